// Repairs nodes that are not Ready: it switches their machines off and on once, and then replaces them.
#pragma once

#include "controllers/disruption/methods/method.hpp"

namespace controllers::disruption {

// Reports whether the pool wants a power cycle before the node is replaced, and none was tried recently.
bool has_a_second_chance(const NodeFacts& facts, api::Time now);
// Reports whether a repair that has begun still has its cause. What began it, such as a look at the machine,
// is not needed again, because a later leader has not looked yet.
bool is_still_broken(const NodeFacts& facts, api::Time now);
Candidacy find_unhealthy(const NodeFacts& facts, api::Time now);
std::vector<Command> judge_unhealthy(Pass& pass, Kind kind, const std::vector<Candidate>& candidates);

}  // namespace controllers::disruption
