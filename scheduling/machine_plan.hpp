// Which pods shall share a machine, and of which size: a cheaper way to fill the machines of one solve, for
// the next solve of the same snapshot to try. Only a hint: what does not hold there is placed as if there
// were no plan.
#pragma once
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace scheduling {

struct MachinePlan {
    struct Planned {
        std::size_t pool = 0;
        MachineSize most;  // the machine grows with its pods, up to this
    };
    std::vector<Planned> machines;
    std::unordered_map<const api::Pod*, std::size_t> machine_of;  // pods, and indices of `machines`
};

}  // namespace scheduling
