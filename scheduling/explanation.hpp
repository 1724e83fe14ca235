// Explains briefly, for each pool, why a pod finds no machine.
#pragma once
#include <cstddef>
#include <string>

#include "scheduling/pod_placer.hpp"

namespace scheduling {

struct LaunchObstacle {
    std::string text;            // "pool small: needs 6 CPUs, largest machine offers 3.9 ..."
    std::size_t budget = kNone;  // the budget that prevented it
    std::string cut;             // remainder of the budget
};

// Explains why no machine of the pool can be launched for the pod, with the present budgets and places.
LaunchObstacle explain(const Snapshot& snapshot, PodPlacer& placer, PodClasses& classes, ClassId id,
                       std::size_t pool);
// Returns "limits.maxNodes of pool small: 0 nodes left".
std::string describe(const Budget& budget, const Take& take);

}  // namespace scheduling
