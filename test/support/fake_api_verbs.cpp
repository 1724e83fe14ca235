// Executes each verb of the in-memory Kubernetes API.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "test/support/fake_api_rules.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/fake_api_validation.hpp"
#include "test/support/json_patches.hpp"

namespace fake {
namespace {

const std::string kPageToken = "page-";
constexpr std::size_t kMostPages = 100;  // the server then expires one page
const std::string kBindings = "rolebindings.rbac.authorization.k8s.io";
constexpr const char* kOperator = "system:serviceaccount:kubenodesmith-system:kubenodesmith";

Key key_of(const Target& target) {
    return {target.resource, target.namespace_, target.name};
}

json::object parsed(const std::string& body) {
    boost::system::error_code error;
    auto value = json::parse(body, error);
    if (error || !value.is_object()) throw Refusal(400, "BadRequest", "the body is no JSON object");
    return std::move(value.get_object());
}

// Copies from `after` the part that the request may change: the object's status, or everything else.
void take_over(json::object& object, json::object after, const Target& target, const ResourceKind& kind) {
    if (target.subresource == "status" || target.subresource == "approval") {
        if (auto* status = after.if_contains("status")) {
            object["status"] = std::move(*status);
        } else {
            object.erase("status");
        }
        member(object, "metadata")["resourceVersion"] = metadata_text(after, "resourceVersion");
        return;
    }
    if (kind.has_status) {
        if (auto* status = object.if_contains("status")) {
            after["status"] = std::move(*status);
        } else {
            after.erase("status");
        }
    }
    object = std::move(after);
}

void check_namespace(const Target& target, const json::object& object) {
    auto given = metadata_text(object, "namespace");
    if (given.empty() || given == target.namespace_) return;
    throw Refusal(400, "BadRequest",
                  "the namespace of the provided object does not match the namespace sent on the request");
}

// Models the NamespaceLifecycle admission plugin.
void check_namespace_lives(const Store& store, const Target& target) {
    if (target.namespace_.empty()) return;
    const auto namespace_ = store.find({"namespaces", "", target.namespace_});
    if (!namespace_ || metadata_text(namespace_->object(), "deletionTimestamp").empty()) return;
    const auto why =
        "unable to create new content in namespace " + target.namespace_ + " because it is being terminated";
    Refusal refusal(403, "Forbidden", target.resource + " is forbidden: " + why);
    refusal.details = {{"kind", target.resource},
                       {"causes", json::array{json::object{{"reason", "NamespaceTerminating"},
                                                           {"message", why},
                                                           {"field", "metadata.namespace"}}}}};
    throw refusal;
}

// Throws Refusal if a patch tries to change the identity of its object.
void check_same_object(const Target& target, const json::object& after) {
    auto name = metadata_text(after, "name");
    if (name != target.name) {
        throw Refusal(
            400, "BadRequest",
            "the name of the object (" + name + ") does not match the name on the URL (" + target.name + ")");
    }
    check_namespace(target, after);
}

json::value applied(const json::object& object, const std::string& type, const std::string& patch) {
    json::value after = object;
    if (type.starts_with("application/json-patch")) {
        boost::system::error_code error;
        auto operations = json::parse(patch, error);
        if (error || !operations.is_array()) throw Refusal(400, "BadRequest", "the body is no JSON patch");
        try {
            return apply_json_patch(std::move(after), operations.get_array());
        } catch (const PatchFailed& failure) {
            throw Refusal(422, "Invalid",
                          "the server rejected our request due to an error in our request: " +
                              std::string(failure.what()));
        }
    }
    if (type.starts_with("application/merge-patch")) {
        apply_merge_patch(after, parsed(patch));
        return after;
    }
    throw Refusal(415, "UnsupportedMediaType", "patches of type " + type + " are not served");
}

}  // namespace

std::string ApiServer::respond(const Target& target, const base::HttpRequest& request, int& status) {
    if (request.method == "POST" && is_review(request.target)) {
        status = 201;
        return answer_review(request);
    }
    check_rights(target);
    auto kind = kind_of(target, options_.custom_resources);
    bool status_missing = target.subresource == "status" && !kind.has_status;
    const bool approval_missing =
        target.subresource == "approval" && kind.kind != "CertificateSigningRequest";
    if (status_missing || approval_missing)
        throw Refusal(404, "NotFound", "the server could not find the requested resource");
    if (request.method == "GET") {
        if (target.name.empty()) return list_page(target);
        const auto found = store_.find(key_of(target));
        if (!found) throw not_found(key_of(target));
        return found->text();
    }
    if (request.method == "POST") {
        status = 201;
        if (target.subresource == "eviction") return evict(target, parsed(request.body))->text();
        return create(target, parsed(request.body))->text();
    }
    if (request.method == "PATCH") return patch(target, request)->text();
    if (request.method == "DELETE") return remove(target, request)->text();
    throw Refusal(405, "MethodNotAllowed", request.method + " is not served");
}

std::string ApiServer::answer_review(const base::HttpRequest& request) const {
    auto review = parsed(request.body);
    if (request.target == kOwnReviews) {
        review["status"] = {{"userInfo", {{"username", kOperator}}}};
    } else if (request.target == kOwnAccessReviews) {
        review["status"] = {{"allowed", options_.rights_by_binding.empty()}};
    } else {
        const auto& asked = review.at("spec").at("resourceAttributes").as_object();
        const bool of_approval = asked.contains("subresource") && asked.at("subresource") == "nodeclient";
        review["status"] = {{"allowed", of_approval ? options_.approves_tokens : options_.tokens_may_join}};
    }
    return json::serialize(review);
}

void ApiServer::check_rights(const Target& target) const {
    const bool is_by_binding = target.resource == "secrets" || target.resource == kBindings;
    if (!is_by_binding || !options_.rights_by_binding.contains(target.namespace_)) return;
    if (!store_.list(kBindings, target.namespace_).empty()) return;
    throw Refusal(403, "Forbidden",
                  target.resource + " is forbidden: User \"" + kOperator +
                      "\" cannot access it in the namespace \"" + target.namespace_ + "\"");
}

std::string ApiServer::list_page(const Target& target) {
    auto token = target.get("continue");
    Page page;
    if (token.empty()) {
        auto selector = selector_of(target, kind_of(target, options_.custom_resources));
        page.version = std::to_string(store_.version());
        for (const auto& object : store_.list(target.resource, target.namespace_)) {
            if (selector.matches(object->object())) page.rest.push_back(object);
        }
    } else {
        auto found = pages_.find(token);
        if (!token.starts_with(kPageToken)) throw Refusal(400, "BadRequest", "continue key is not valid");
        if (found == pages_.end() || std::stoull(found->second.version) < store_.compacted()) {
            throw Refusal(410, "Expired", "The provided continue parameter is too old");
        }
        page = found->second;
    }
    auto limit = target.get("limit").empty() ? std::size_t{0} : std::stoull(target.get("limit"));
    auto count = limit == 0 ? page.rest.size() : std::min<std::size_t>(limit, page.rest.size());
    std::string items;
    for (std::size_t i = 0; i < count; ++i) items += (i == 0 ? "" : ",") + page.rest[i]->text();
    page.rest.erase(page.rest.begin(), page.rest.begin() + static_cast<std::ptrdiff_t>(count));
    json::object metadata{{"resourceVersion", page.version}};
    if (!page.rest.empty()) {
        auto next = kPageToken + std::to_string(++tokens_);
        metadata["continue"] = next;
        if (pages_.size() >= kMostPages) pages_.erase(pages_.begin());
        pages_[next] = std::move(page);
    }
    return R"({"kind":"List","apiVersion":"v1","metadata":)" + json::serialize(metadata) + R"(,"items":[)" +
           items + "]}";
}

Snapshot ApiServer::create(const Target& target, json::object body) {
    auto key = key_of(target);
    key.name = metadata_text(body, "name");
    check_namespace(target, body);
    if (key.name.empty() && metadata_text(body, "generateName").empty()) {
        throw invalid(key, "metadata.name: Required value: name or generateName is required");
    }
    auto named = body;
    if (key.name.empty()) member(named, "metadata")["name"] = metadata_text(body, "generateName") + "00000";
    auto fault = metadata_fault(named);
    if (!fault.empty()) throw invalid(key, fault);
    // A kubelet registers its Node together with the status.
    if (kind_of(target, options_.custom_resources).has_status && target.resource != "nodes")
        body.erase("status");
    if (target.resource == "pods") member(body, "status")["phase"] = "Pending";
    check_namespace_lives(store_, target);
    if (target.get("dryRun") == "All") return std::make_shared<const Document>(std::move(body));
    return store_.create(key, std::move(body));
}

Snapshot ApiServer::patch(const Target& target, const base::HttpRequest& request) {
    auto type = std::string(request.headers.find("Content-Type").value_or(""));
    if (type.starts_with("application/apply-patch")) return apply(target, request);
    auto kind = kind_of(target, options_.custom_resources);
    auto key = key_of(target);
    return store_.update(key, [&](json::object& object) {
        auto after = applied(object, type, request.body);
        check_same_object(target, after.as_object());
        auto fault = metadata_fault(after.as_object());
        if (!fault.empty()) throw invalid(key, fault);
        take_over(object, std::move(after.as_object()), target, kind);
    });
}

// Models server-side apply for one field manager: the result contains every field that it applies.
Snapshot ApiServer::apply(const Target& target, const base::HttpRequest& request) {
    auto body = parsed(request.body);
    if (store_.find(key_of(target))) return patch_json(key_of(target), body);
    auto collection = target;
    collection.name.clear();
    return create(collection, std::move(body));
}

Snapshot ApiServer::patch_json(const Key& key, const json::object& patch) {
    return store_.update(key, [&patch](json::object& object) {
        json::value after = std::move(object);
        apply_merge_patch(after, patch);
        object = std::move(after.get_object());
    });
}

Snapshot ApiServer::remove(const Target& target, const base::HttpRequest& request) {
    auto options = request.body.empty() ? json::object{} : parsed(request.body);
    auto grace = target.get("gracePeriodSeconds");
    if (!grace.empty()) options["gracePeriodSeconds"] = std::stoll(grace);
    auto left = store_.remove(key_of(target), delete_request(options));
    if (left) return left;
    return std::make_shared<const Document>(
        json::object{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}});
}

}  // namespace fake
