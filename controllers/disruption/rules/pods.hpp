// Evaluates what pods say about the disruption of their node. Pure.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/pool.hpp"
#include "controllers/disruption/facts/blocker.hpp"
#include "controllers/disruption/rules/use.hpp"
#include "controllers/state/pod_budgets.hpp"

namespace controllers::disruption {

struct PodRules {
    Kind kind = Kind::Empty;
    const BudgetPointers& budgets;  // PodDisruptionBudgets of all namespaces
    // True if a terminationGracePeriod ends the drain's waiting.
    bool has_deadline = false;
    // The pods' new places exist only once the node is gone. A budget that lets fewer of them go
    // simultaneously would never let the rest go.
    bool all_at_once = false;
    // Time after which the drain is given up, its evictions without effect; nullopt: never.
    std::optional<api::Duration> given_up_after;
    // UIDs of pods that stay on the node, because its machine is kept for their volumes.
    std::set<std::string> spared;
    // The pool's disruption.emptyDir.
    api::v1alpha1::EmptyDirPolicy empty_dir = api::v1alpha1::EmptyDirPolicy::Evict;
};
// Returns why data of the pod on its node's disk keeps a node that would be removed only to save it: a
// hostPath, or with the policy Keep an emptyDir that may hold data.
std::optional<Blocker> local_data_blocker(const api::Pod& pod, api::v1alpha1::EmptyDirPolicy policy);
// Returns why a pod cannot be evicted: do-not-disrupt, local data, a budget without slack, or no owner to
// recreate it. It may also need more time to end than the drain has. Empty and unhealthy nodes are not asked.
std::optional<Blocker> pod_blocker(const PodPointers& pods, const PodRules& rules, api::Time now);

}  // namespace controllers::disruption
