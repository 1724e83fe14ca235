// Evicts pods as the API server does: k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go.
#include <algorithm>

#include "api/selector.hpp"
#include "test/support/fake_api_rules.hpp"
#include "test/support/fake_api_server.hpp"

namespace fake {
namespace {

const std::string kBudgets = "poddisruptionbudgets.policy";
constexpr const char* kForbidden = "Cannot evict pod as it would violate the pod's disruption budget.";

std::int64_t number_at(const json::object& object, const std::vector<std::string>& path) {
    return std::stoll(text_at(object, path).value_or("0"));
}

bool selects(const json::object& budget, const json::object& pod) {
    const auto* spec = budget.if_contains("spec");
    const auto* selector = spec ? spec->as_object().if_contains("selector") : nullptr;
    if (!selector) return false;
    auto labels = api::decode<api::ObjectMeta>(pod.at("metadata")).labels;
    return api::matches(api::decode<api::LabelSelector>(*selector), labels);
}

bool is_ready(const json::object& pod) {
    const auto* status = pod.if_contains("status");
    const auto* conditions = status ? status->as_object().if_contains("conditions") : nullptr;
    return conditions && conditions->is_array() &&
           std::ranges::any_of(conditions->get_array(), [](const json::value& condition) {
               return condition.at("type") == "Ready" && condition.at("status") == "True";
           });
}

// Reports whether the pod's end disrupts nothing, so that no budget is consulted.
bool needs_no_budget(const json::object& pod) {
    const auto phase = text_at(pod, {"status", "phase"}).value_or("Pending");
    return phase == "Pending" || phase == "Succeeded" || phase == "Failed" ||
           pod.at("metadata").as_object().contains("deletionTimestamp");
}

// Reports whether the pod may be evicted without a budget because it is not ready. Such a pod does no work
// that a budget could protect.
bool may_go_unready(const json::object& pod, const json::object& budget) {
    if (is_ready(pod)) return false;
    if (text_at(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow") return true;
    auto desired = number_at(budget, {"status", "desiredHealthy"});
    return desired > 0 && number_at(budget, {"status", "currentHealthy"}) >= desired;
}

Refusal refusal(const std::string& message, std::int64_t retry_after) {
    Refusal refusal(429, "TooManyRequests", kForbidden);
    refusal.details["causes"] = {{{"reason", "DisruptionBudget"}, {"message", message}}};
    if (retry_after > 0) refusal.details["retryAfterSeconds"] = retry_after;
    return refusal;
}

// Throws Refusal unless the budget allows a disruption.
void check_budget(const json::object& budget) {
    auto name = metadata_text(budget, "name");
    if (number_at(budget, {"status", "observedGeneration"}) < number_at(budget, {"metadata", "generation"})) {
        throw refusal("The disruption budget " + name + " is still being processed by the server.", 10);
    }
    if (number_at(budget, {"status", "disruptionsAllowed"}) > 0) return;
    auto number = [&budget](const char* field) {
        return std::to_string(number_at(budget, {"status", field}));
    };
    throw refusal("The disruption budget " + name + " needs " + number("desiredHealthy") +
                      " healthy pods and has " + number("currentHealthy") + " currently",
                  0);
}

void mark_as_disrupted(json::object& pod, const std::string& now) {
    auto& conditions = member(pod, "status")["conditions"];
    if (!conditions.is_array()) conditions = json::array{};
    bool marked = std::ranges::any_of(conditions.get_array(), [](const json::value& condition) {
        return condition.at("type") == "DisruptionTarget";
    });
    if (marked) return;
    conditions.get_array().push_back({{"type", "DisruptionTarget"},
                                      {"status", "True"},
                                      {"reason", "EvictionByEvictionAPI"},
                                      {"message", "Eviction API: evicting"},
                                      {"lastTransitionTime", now}});
}

}  // namespace

Snapshot ApiServer::evict(const Target& target, const json::object& body) {
    Key key{target.resource, target.namespace_, target.name};
    const auto found = store_.find(key);
    if (!found) throw not_found(key);
    const auto& pod = found->object();
    json::object options;
    if (const auto* given = body.if_contains("deleteOptions")) options = given->as_object();
    auto request = delete_request(options);
    if (!needs_no_budget(pod)) spend_budget(key, pod);
    // The budget is spent even if the preconditions then show that another pod was meant.
    check_preconditions(key, pod, request);
    store_.update(key, [this](json::object& object) { mark_as_disrupted(object, store_.now()); });
    request.resource_version.clear();
    store_.remove(key, request);
    return std::make_shared<const Document>(
        json::object{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}, {"code", 201}});
}

void ApiServer::spend_budget(const Key& pod_key, const json::object& pod) {
    auto budgets = store_.list(kBudgets, pod_key.namespace_);
    std::erase_if(budgets, [&pod](const Snapshot& budget) { return !selects(budget->object(), pod); });
    if (budgets.empty()) return;
    if (budgets.size() > 1) {
        throw Refusal(500, "",
                      "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
                      "not support.");
    }
    const auto& budget = budgets.front()->object();
    if (may_go_unready(pod, budget)) return;
    check_budget(budget);
    store_.update({kBudgets, pod_key.namespace_, metadata_text(budget, "name")}, [&](json::object& object) {
        auto& status = member(object, "status");
        status["disruptionsAllowed"] = number_at(object, {"status", "disruptionsAllowed"}) - 1;
        member(status, "disruptedPods")[pod_key.name] = store_.now();
    });
}

}  // namespace fake
