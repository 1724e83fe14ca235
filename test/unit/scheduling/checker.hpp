// An independent judge of placements. It replays them one by one on plain lists, slowly, by the documented
// rules of the kube-scheduler's plugins. It shares no code with the engine but the API types.
#pragma once
#include <string>
#include <vector>

#include "scheduling/solver.hpp"

namespace checker {

// Returns the faults of the result in words; empty if there are none.
std::vector<std::string> violations(const scheduling::Snapshot& snapshot,
                                    const scheduling::SolveResult& result);

}  // namespace checker
