// Determines since when nodes are empty or underused. Pure.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "controllers/disruption/rules/facts.hpp"

namespace controllers::disruption {

// Returns how long a new node's emptiness does not count yet; nullopt: it counts. Pods are bound within
// moments after their node becomes ready.
std::optional<base::Duration> settles_in(const NodeFacts& facts, api::Time now);

// Returns the recorded time, brought up to date.
std::optional<api::Time> empty_since(const NodeFacts& facts, api::Time now);
std::optional<api::Time> unneeded_since(const NodeFacts& facts, api::Time now);

// Reports whether less of its CPU and memory is in use than its pool's threshold.
bool is_hardly_used(const NodeFacts& facts);
// Reports whether its pods' requests would cost less than the pool's threshold, a percentage of its price.
bool is_overpriced(const NodeFacts& facts);
// Reports whether either was true for long enough, so that cheaper machines may be launched instead.
bool is_unneeded(const NodeFacts& facts, api::Time now);

}  // namespace controllers::disruption
