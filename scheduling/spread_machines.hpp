// Meets required spreads over nodes with few machines. A solve puts each such pod on a separate machine,
// because any further machine would be an empty domain. With a limit on machines, the pods fill these evenly.
// So the solve is repeated with as many machines as the pods would fill.
#pragma once
#include <cstddef>
#include <vector>

#include "scheduling/solver.hpp"

namespace scheduling {

// Returns possible numbers of machines, ascending; empty if nothing can be saved.
std::vector<std::size_t> machine_counts_to_try(const Snapshot& snapshot, const SolveResult& result);

}  // namespace scheduling
