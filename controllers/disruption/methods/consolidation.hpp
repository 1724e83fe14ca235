// Finds nodes whose pods fit elsewhere, or on one smaller machine. The nodes are judged together.
#pragma once

#include "controllers/disruption/methods/method.hpp"

namespace controllers::disruption {

Candidacy find_underutilized(const NodeFacts& facts, api::Time now);
std::vector<Command> judge_underutilized(Pass& pass, Kind kind, const std::vector<Candidate>& candidates);

}  // namespace controllers::disruption
