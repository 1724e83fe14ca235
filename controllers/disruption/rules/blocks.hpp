// What stands against a disruption: wishes of users, delays, counts. Pure. That pods must find another place
// is judged by simulation (outlook.hpp).
#pragma once

#include <optional>

#include "controllers/disruption/rules/facts.hpp"
#include "controllers/state/blocker.hpp"

namespace controllers::disruption {

// What forbids disruption in the pool whether or not one is under way: wishes and health.
std::optional<Blocker> standing_blocker(const PoolFacts& facts);
// Whether it is that too many nodes of the control plane are not Ready.
bool is_outage(const std::optional<Blocker>& standing);
// What forbids to begin one now: the above, windows, delays, budgets, concurrency and rate.
std::optional<Blocker> pool_blocker(const PoolFacts& facts, Kind kind, api::Time now);
// The volumes on the node's disk, if they hold it.
std::optional<Blocker> volume_blocker(const NodeFacts& facts);
// What holds for one node.
std::optional<Blocker> node_blocker(const PoolFacts& pool, const NodeFacts& facts, Kind kind, api::Time now);

}  // namespace controllers::disruption
