// Required spreads over nodes, met with few machines. A solve puts such pods on a machine each, as any other
// machine that may come would be an empty domain; where no more than so many may come, they fill those
// evenly. So the solve is tried again with as many as the pods would fill.
#pragma once
#include <cstddef>
#include <vector>

#include "scheduling/solver.hpp"

namespace scheduling {

// Numbers of machines that may do, ascending; empty if there is nothing to gain.
std::vector<std::size_t> machine_counts_to_try(const Snapshot& snapshot, const Result& result);

}  // namespace scheduling
