// The status of a NodeSmithControlPlane as it should be, and whether its Nodes are healthy. Pure.
#pragma once

#include <map>

#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/state/pool_counts.hpp"
#include "controllers/state/token_rights.hpp"

namespace controllers {

using Providers = std::map<api::ObjectKey, ProviderPointer>;

struct ControlPlaneFacts {
    const NodeSmithControlPlane& object;
    const Pools& pools;
    const ControlPlanes& control_planes;
    const Providers& providers;
    std::int64_t managed_pools = 0;
    PoolCounts counts;  // of the pools that it manages
    TokenRights token_rights = {};
    // The first of its pools whose machines join with a token of ours; null: none.
    const NodeSmithPool* joins_by_token = nullptr;
    // The first of its pools that leaves the approval to the cluster; null: none.
    const NodeSmithPool* left_to_cluster = nullptr;
    // Its format's servers take each token for any Node.
    const NodeSmithPool* trusts_tokens = nullptr;
};

// Whether each listed pool exists and has a provider that works: the first problem, in the order listed.
api::ConditionUpdate resolve_pools(const ControlPlaneFacts& facts);
// The same, and whether their machines may join.
api::ConditionUpdate judge_readiness(const ControlPlaneFacts& facts);
// False while more Nodes in service are not Ready than both bounds allow: then nothing is launched or
// removed.
api::ConditionUpdate judge_health(const api::v1alpha1::ClusterHealth& bounds, const PoolCounts& counts);
// False where a machine's token can be good for more than its claim's Node.
api::ConditionUpdate judge_tokens(const ControlPlaneFacts& facts);
// The status as it should be; lastSyncTime is `now` only if anything else differs.
api::v1alpha1::ControlPlaneStatus next_status(const ControlPlaneFacts& facts, api::Time now);

// True if launching and removing must pause because of the Nodes' health.
bool is_unhealthy(const NodeSmithControlPlane& control_plane, const PoolCounts& counts);

}  // namespace controllers
