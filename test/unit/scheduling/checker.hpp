// An independent judge of placements: replays them one by one on plain lists, slowly, by the rules of the
// kube-scheduler's plugins as they are documented. Shares no code with the engine but the API types.
#pragma once
#include <string>
#include <vector>

#include "scheduling/solver.hpp"

namespace checker {

// What is wrong with the result, in words; empty: nothing.
std::vector<std::string> violations(const scheduling::Snapshot& snapshot, const scheduling::Result& result);

}  // namespace checker
