// Nodes that are not Ready: a second chance by switching their machines off and on, and then others.
#pragma once

#include "controllers/disruption/methods/method.hpp"

namespace controllers::disruption {

// Reports whether the pool wants the node's power switched off and on before the node is replaced, and that
// was not tried lately.
bool has_a_second_chance(const NodeFacts& facts, api::Time now);
Candidacy find_unhealthy(const NodeFacts& facts, api::Time now);
std::vector<Command> judge_unhealthy(Pass& pass, Kind kind, const std::vector<Candidate>& candidates);

}  // namespace controllers::disruption
