// What pods say about the disruption of their node. Pure.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "controllers/disruption/rules/use.hpp"
#include "controllers/state/blocker.hpp"
#include "controllers/state/pod_budgets.hpp"

namespace controllers::disruption {

struct PodRules {
    Kind kind = Kind::Empty;
    const BudgetPointers& budgets;  // PodDisruptionBudgets of all namespaces
    // A terminationGracePeriod, after which a drain waits for nobody.
    bool has_deadline = false;
    // Their new places come only when the node is gone: a budget that lets fewer of them go at once would
    // never let the rest go.
    bool all_at_once = false;
    // After which the drain is given up, its pods evicted in vain; nullopt: never.
    std::optional<api::Duration> given_up_after;
    // UIDs of pods that stay on the node, whose machine is kept for their volumes.
    std::set<std::string> spared;
};
// Why a pod cannot be asked to leave: do-not-disrupt, a budget without slack, nobody who would bring it back,
// local data, more time to end than the drain has. Empty and unhealthy nodes are not asked.
std::optional<Blocker> pod_blocker(const PodPointers& pods, const PodRules& rules, api::Time now);

}  // namespace controllers::disruption
