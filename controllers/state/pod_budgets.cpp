#include "controllers/state/pod_budgets.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "api/selector.hpp"
#include "base/text.hpp"

namespace controllers {

namespace {

// Any other value, including one of a newer Kubernetes, counts as the default IfHealthyBudget.
constexpr std::string_view kAlwaysAllow = "AlwaysAllow";

bool selects(const api::PodDisruptionBudget& budget, const api::Pod& pod) {
    return budget.metadata.namespace_ == pod.metadata.namespace_ && budget.spec.selector &&
           api::matches(*budget.spec.selector, pod.metadata.labels);
}

bool is_pod_ready(const api::Pod& pod) {
    return api::is_true(pod.status.conditions, api::conditions::kReady);
}

// Explains why a pod that is not Ready is kept nevertheless.
std::string hint_for_unready(const api::PodDisruptionBudget& budget) {
    const auto& status = budget.status;
    return "; the pod is not Ready and can be evicted if the budget's unhealthyPodEvictionPolicy is "
           "AlwaysAllow or " +
           std::to_string(status.desiredHealthy) + " pods are healthy (" +
           std::to_string(status.currentHealthy) + " are)";
}

}  // namespace

BudgetPointers budgets_of(const api::Pod& pod, const BudgetPointers& budgets) {
    BudgetPointers found;
    for (const auto& budget : budgets)
        if (selects(*budget, pod)) found.push_back(budget);
    return found;
}

bool is_beyond_budgets(const api::Pod& pod) {
    using api::PodPhase;
    const auto phase = pod.status.phase;
    return pod.metadata.deletionTimestamp || phase == PodPhase::Pending || phase == PodPhase::Succeeded ||
           phase == PodPhase::Failed;
}

bool lets_go_unready(const api::PodDisruptionBudget& budget, const api::Pod& pod) {
    if (is_pod_ready(pod)) return false;
    if (budget.spec.unhealthyPodEvictionPolicy == kAlwaysAllow) return true;
    const auto& status = budget.status;
    return status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
}

bool uses_up(const api::Pod& pod, const api::PodDisruptionBudget& budget) {
    return selects(budget, pod) && !is_beyond_budgets(pod) && !lets_go_unready(budget, pod);
}

std::string obstacle_of(const api::Pod& pod, const BudgetPointers& budgets) {
    if (is_beyond_budgets(pod)) return "";
    const auto found = budgets_of(pod, budgets);
    if (found.size() > 1) return several_budgets(found);
    if (found.empty() || !uses_up(pod, *found.front())) return "";
    const auto& status = found.front()->status;
    if (status.disruptionsAllowed > 0) return "";
    const bool never = status.expectedPods > 0 && status.desiredHealthy >= status.expectedPods;
    return "is kept by PodDisruptionBudget " + api::key_of(*found.front()).str() +
           (never ? ", which can never allow an eviction" : ", which allows no eviction now") +
           (is_pod_ready(pod) ? "" : hint_for_unready(*found.front()));
}

std::string several_budgets(const BudgetPointers& budgets) {
    const auto names =
        base::joined(budgets, ", ", [](const auto& budget) { return api::key_of(*budget).str(); });
    return "has more than one PodDisruptionBudget" + (names.empty() ? "" : " (" + names + ")") +
           ", which the eviction API refuses; delete all but one of them, or change their selectors";
}

}  // namespace controllers
