// What the in-memory Kubernetes API does for each verb.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "test/support/fake_api_server.hpp"
#include "test/support/json_patches.hpp"

namespace fake {
namespace {

constexpr const char* kStatusless[] = {"secrets",
                                       "configmaps",
                                       "events",
                                       "leases.coordination.k8s.io",
                                       "storageclasses.storage.k8s.io",
                                       "csinodes.storage.k8s.io"};

bool has_status_subresource(const std::string& resource) {
    return std::find(std::begin(kStatusless), std::end(kStatusless), resource) == std::end(kStatusless);
}

Key key_of(const Target& target) {
    return {target.resource, target.namespace_, target.name};
}

json::object parsed(const std::string& body) {
    boost::system::error_code error;
    auto value = json::parse(body, error);
    if (error || !value.is_object()) throw Refusal(400, "BadRequest", "the body is no JSON object");
    return std::move(value.get_object());
}

// Which part of the object a request may change: its status, or everything else.
json::object restricted(const json::object& before, json::object after, const Target& target) {
    if (target.subresource == "status") {
        auto result = before;
        if (const auto* status = after.if_contains("status")) {
            result["status"] = *status;
        } else {
            result.erase("status");
        }
        member(result, "metadata")["resourceVersion"] = metadata_text(after, "resourceVersion");
        return result;
    }
    if (!has_status_subresource(target.resource)) return after;
    if (const auto* status = before.if_contains("status")) {
        after["status"] = *status;
    } else {
        after.erase("status");
    }
    return after;
}

DeleteRequest delete_request(const json::object& options) {
    DeleteRequest request;
    if (const auto* grace = options.if_contains("gracePeriodSeconds")) {
        request.grace_seconds = grace->to_number<std::int64_t>();
    }
    request.uid = text_at(options, {"preconditions", "uid"}).value_or("");
    request.resource_version = text_at(options, {"preconditions", "resourceVersion"}).value_or("");
    request.orphan = text_at(options, {"propagationPolicy"}) == "Orphan";
    return request;
}

bool selects(const json::object& budget, const json::object& pod) {
    const auto* spec = budget.if_contains("spec");
    const auto* selector = spec ? spec->as_object().if_contains("selector") : nullptr;
    if (!selector) return false;
    const auto* labels = selector->as_object().if_contains("matchLabels");
    if (!labels) return true;
    return std::all_of(labels->as_object().begin(), labels->as_object().end(), [&pod](const auto& wanted) {
        return text_at(pod, {"metadata", "labels", std::string(wanted.key())}) == wanted.value().as_string();
    });
}

// The API server's own words: k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go.
Refusal budget_refusal(const json::object& budget) {
    auto number = [&budget](const char* field) { return text_at(budget, {"status", field}).value_or("0"); };
    Refusal refusal(429, "TooManyRequests",
                    "Cannot evict pod as it would violate the pod's disruption budget.");
    json::array causes{{{"reason", "DisruptionBudget"},
                        {"message", "The disruption budget " + metadata_text(budget, "name") + " needs " +
                                        number("desiredHealthy") + " healthy pods and has " +
                                        number("currentHealthy") + " currently"}}};
    refusal.details = {{"causes", std::move(causes)}};
    return refusal;
}

}  // namespace

json::object ApiServer::respond(const Target& target, const base::HttpRequest& request, int& status) {
    if (request.method == "GET") {
        if (target.name.empty()) return list_page(target);
        const auto* found = store_.find(key_of(target));
        if (!found) throw Refusal(404, "NotFound", target.resource + " \"" + target.name + "\" not found");
        return *found;
    }
    if (request.method == "POST") {
        status = 201;
        if (target.subresource == "eviction") return evict(target, parsed(request.body));
        return create(target, parsed(request.body));
    }
    if (request.method == "PATCH") return patch(target, request);
    if (request.method == "DELETE") return remove(target, request);
    throw Refusal(405, "MethodNotAllowed", request.method + " is not served");
}

json::object ApiServer::list_page(const Target& target) {
    auto token = target.get("continue");
    Page page;
    if (!token.empty()) {
        auto found = pages_.find(token);
        if (found == pages_.end()) {
            throw Refusal(410, "Expired", "The provided continue parameter is too old");
        }
        page = std::move(found->second);
        pages_.erase(found);
    } else {
        Selector selector(target.get("labelSelector"), target.get("fieldSelector"));
        page.version = std::to_string(store_.version());
        for (const auto* object : store_.list(target.resource, target.namespace_)) {
            if (selector.matches(*object)) page.rest.push_back(*object);
        }
    }
    auto limit = target.get("limit").empty() ? std::size_t{0} : std::stoull(target.get("limit"));
    auto count = limit == 0 ? page.rest.size() : std::min<std::size_t>(limit, page.rest.size());
    json::array items;
    for (std::size_t i = 0; i < count; ++i) items.push_back(std::move(page.rest[i]));
    page.rest.erase(page.rest.begin(), page.rest.begin() + static_cast<std::ptrdiff_t>(count));
    json::object metadata{{"resourceVersion", page.version}};
    if (!page.rest.empty()) {
        auto next = "page-" + std::to_string(++tokens_);
        metadata["continue"] = next;
        pages_[next] = std::move(page);
    }
    return {{"kind", "List"},
            {"apiVersion", "v1"},
            {"metadata", std::move(metadata)},
            {"items", std::move(items)}};
}

json::object ApiServer::create(const Target& target, json::object body) {
    auto key = key_of(target);
    key.name = metadata_text(body, "name");
    if (key.name.empty() && metadata_text(body, "generateName").empty()) {
        throw Refusal(422, "Invalid", target.resource + " \"\" is invalid: metadata.name: Required value");
    }
    // A kubelet registers its Node together with its status.
    if (has_status_subresource(target.resource) && target.resource != "nodes") body.erase("status");
    if (target.resource == "pods") member(body, "status")["phase"] = "Pending";
    return store_.create(key, std::move(body));
}

json::object ApiServer::patch(const Target& target, const base::HttpRequest& request) {
    auto type = std::string(request.headers.find("Content-Type").value_or(""));
    auto key = key_of(target);
    if (type.starts_with("application/apply-patch") && !store_.find(key)) {
        return create(target, parsed(request.body));
    }
    return store_.update(key, [&](json::object& object) {
        json::value after = object;
        if (type.starts_with("application/json-patch")) {
            try {
                after = apply_json_patch(std::move(after), json::parse(request.body).as_array());
            } catch (const PatchFailed& failure) {
                throw Refusal(422, "Invalid",
                              "the server rejected our request due to an error in our request: " +
                                  std::string(failure.what()));
            }
        } else if (type.starts_with("application/merge-patch") ||
                   type.starts_with("application/apply-patch")) {
            apply_merge_patch(after, parsed(request.body));
        } else {
            throw Refusal(415, "UnsupportedMediaType", "patches of type " + type + " are not served");
        }
        object = restricted(object, std::move(after.as_object()), target);
    });
}

json::object ApiServer::patch_json(const Key& key, const json::object& patch) {
    return store_.update(key, [&patch](json::object& object) {
        json::value after = object;
        apply_merge_patch(after, patch);
        object = std::move(after.as_object());
    });
}

json::object ApiServer::remove(const Target& target, const base::HttpRequest& request) {
    auto options = request.body.empty() ? json::object{} : parsed(request.body);
    auto grace = target.get("gracePeriodSeconds");
    if (!grace.empty()) options["gracePeriodSeconds"] = std::stoll(grace);
    auto left = store_.remove(key_of(target), delete_request(options));
    if (left) return *left;
    return {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}};
}

json::object ApiServer::evict(const Target& target, const json::object& body) {
    auto key = key_of(target);
    const auto* pod = store_.find(key);
    if (!pod) throw Refusal(404, "NotFound", "pods \"" + target.name + "\" not found");
    json::object options;
    if (const auto* given = body.if_contains("deleteOptions")) options = given->as_object();
    auto uid = text_at(options, {"preconditions", "uid"}).value_or("");
    if (!uid.empty() && uid != metadata_text(*pod, "uid")) {
        throw Refusal(409, "Conflict", "Precondition failed: UID in precondition does not match");
    }
    auto phase = text_at(*pod, {"status", "phase"}).value_or("");
    bool deleting = pod->at("metadata").get_object().contains("deletionTimestamp");
    if (phase == "Running" && !deleting) spend_budget(key, *pod);
    store_.remove(key, delete_request(options));
    return {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}, {"code", 201}};
}

void ApiServer::spend_budget(const Key& pod_key, const json::object& pod) {
    std::vector<Key> budgets;
    for (const auto* budget : store_.list("poddisruptionbudgets.policy", pod_key.namespace_)) {
        if (selects(*budget, pod)) {
            budgets.push_back(
                {"poddisruptionbudgets.policy", pod_key.namespace_, metadata_text(*budget, "name")});
        }
    }
    if (budgets.empty()) return;
    if (budgets.size() > 1) {
        throw Refusal(500, "InternalError",
                      "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
                      "not support.");
    }
    const auto& budget = *store_.find(budgets.front());
    auto allowed = std::stoll(text_at(budget, {"status", "disruptionsAllowed"}).value_or("0"));
    if (allowed <= 0) throw budget_refusal(budget);
    store_.update(budgets.front(), [&](json::object& object) {
        auto& status = member(object, "status");
        status["disruptionsAllowed"] = allowed - 1;
        member(status, "disruptedPods")[pod_key.name] = store_.now();
    });
}

}  // namespace fake
