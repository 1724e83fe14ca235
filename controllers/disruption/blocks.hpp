// What stands against a disruption: wishes of users, delays, counts. Pure. That pods must find another place
// is judged by simulation (simulation.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "api/v1alpha1/control_plane.hpp"
#include "controllers/disruption/budgets.hpp"
#include "controllers/disruption/candidates.hpp"
#include "controllers/state/fleet.hpp"

namespace controllers::disruption {

// What holds for all nodes of a pool.
struct PoolFacts {
    const api::v1alpha1::NodeSmithPool& pool;
    const api::v1alpha1::NodeSmithControlPlane* manager = nullptr;  // null: not managed
    Fleet manager_fleet;                                            // of all pools of the manager
    std::int64_t in_service = 0;            // nodes of the pool that were in service, leaving ones included
    std::int64_t staying = 0;               // of these, Ready and not leaving
    std::int64_t leaving = 0;               // being removed, for whatever reason
    std::int64_t stuck = 0;                 // of these, those whose removal cannot go on
    std::int64_t repairs = 0;               // of those that leave, those that were broken
    std::int64_t not_ready = 0;             // of the nodes that stay
    std::int64_t removals_last_hour = 0;    // of the manager
    std::optional<api::Time> last_failure;  // when a removal in this pool was last given up for failure
};
// What forbids disruption in the pool whether or not one is under way: wishes and health.
std::optional<Blocker> standing_blocker(const PoolFacts& facts);
// Whether it is that too many nodes of the control plane are not Ready.
bool is_outage(const std::optional<Blocker>& standing);
// What forbids to begin one now: the above, windows, delays, budgets, concurrency and rate.
std::optional<Blocker> pool_blocker(const PoolFacts& facts, Kind kind, api::Time now);
// What holds for one node.
std::optional<Blocker> node_blocker(const PoolFacts& pool, const NodeFacts& facts, Kind kind, api::Time now);

}  // namespace controllers::disruption
