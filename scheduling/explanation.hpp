// Why a pod finds no machine, per pool, in words that are short and true.
#pragma once
#include <cstddef>
#include <string>

#include "scheduling/pod_placer.hpp"

namespace scheduling {

struct Explanation {
    std::string text;            // "pool small: needs 6 CPUs, largest machine offers 3.9 ..."
    std::size_t budget = kNone;  // that was in the way
    std::string cut;             // what of it was left
};

// Why no machine of the pool can be launched for the pod, as budgets and places are now.
Explanation explain(const Snapshot& snapshot, PodPlacer& placer, PodClasses& classes, ClassId id,
                    std::size_t pool);
// "limits.maxNodes of pool small: 0 nodes left".
std::string describe(const Budget& budget, const Take& take);

}  // namespace scheduling
