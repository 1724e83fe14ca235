// Suggests which pods share a machine, and its size, for the next solve of the same snapshot. The result is
// cheaper machines. It is only a hint: pods that do not fit there are placed as if there were no plan.
#pragma once
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace scheduling {

struct MachinePlan {
    struct Planned {
        std::size_t pool = 0;
        MachineSize most;  // the machine grows with its pods, up to this size
    };
    std::vector<Planned> machines;
    std::unordered_map<const api::Pod*, std::size_t> machine_of;  // pods, and indices of `machines`
};

}  // namespace scheduling
