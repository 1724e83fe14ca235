// Finds what blocks a disruption: users' settings, delays and limits. Pure. Simulations judge whether pods
// find another place (outlook.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "controllers/disruption/facts/blocker.hpp"
#include "controllers/disruption/rules/facts.hpp"

namespace controllers::disruption {

// Returns what forbids disruption in the pool even if one is running: users' settings and health.
std::optional<Blocker> standing_blocker(const PoolFacts& facts);
// Reports whether the reason is that too many nodes of the control plane are not Ready.
bool is_outage(const std::optional<Blocker>& standing);
// Returns what forbids a new disruption now: the above, windows, delays, budgets, concurrency and rate.
std::optional<Blocker> pool_blocker(const PoolFacts& facts, Kind kind, api::Time now);
// Returns how many further nodes of the pool may be removed for that reason now, by scaleDown.maxConcurrent
// and disruption.budgets; 0 while something forbids all disruption.
std::int64_t allowed_disruptions(const PoolFacts& facts, Kind kind, api::Time now);
// Returns a blocker for volumes on the node's disk that hold it.
std::optional<Blocker> volume_blocker(const NodeFacts& facts);
// Returns what blocks a disruption of this node.
std::optional<Blocker> node_blocker(const PoolFacts& pool, const NodeFacts& facts, Kind kind, api::Time now);

}  // namespace controllers::disruption
