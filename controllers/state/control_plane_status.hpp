// Computes the status of a NodeSmithControlPlane, and whether its Nodes are healthy. Pure.
#pragma once

#include <map>

#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/state/token_rights.hpp"

namespace controllers {

using Providers = std::map<api::ObjectKey, ProviderPointer>;

struct ControlPlaneFacts {
    const NodeSmithControlPlane& object;
    const Pools& pools;
    const ControlPlanes& control_planes;
    const Providers& providers;
    std::int64_t managed_pools = 0;
    PoolCounts counts;  // counts of the pools that it manages
    TokenRights token_rights = {};
    // First of its pools whose machines join with our bootstrap token; null: none.
    const NodeSmithPool* joins_by_token = nullptr;
    // First of its pools that leaves the approval to the cluster; null: none.
    const NodeSmithPool* left_to_cluster = nullptr;
    // First of its pools whose format accepts each token for any Node; null: none.
    const NodeSmithPool* trusts_tokens = nullptr;
};

// Reports whether each listed pool exists and has a working provider.
// Returns the first problem in list order.
api::ConditionUpdate resolve_pools(const ControlPlaneFacts& facts);
// Reports the same, and whether the pools' machines may join.
api::ConditionUpdate judge_readiness(const ControlPlaneFacts& facts);
// Returns False while more Nodes in service are not Ready than both bounds allow.
// Then nothing is launched or removed.
api::ConditionUpdate judge_health(const api::v1alpha1::ClusterHealth& bounds, const PoolCounts& counts);
// Returns False if a machine's token may be valid for more than its claim's Node.
api::ConditionUpdate judge_tokens(const ControlPlaneFacts& facts);
// Computes the next status. lastSyncTime is `now` only if anything else differs.
api::v1alpha1::ControlPlaneStatus next_status(const ControlPlaneFacts& facts, api::Time now);

// Reports whether launching and removing must pause because of the Nodes' health.
bool is_unhealthy(const NodeSmithControlPlane& control_plane, const PoolCounts& counts);

}  // namespace controllers
