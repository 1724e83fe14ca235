// Holds CPU and memory of a machine, before the system takes its part.
#pragma once
#include "base/saturating.hpp"

namespace scheduling {

struct MachineSize {
    base::Saturating cpu_cores = 0;
    base::Saturating memory_mib = 0;
    bool operator==(const MachineSize&) const = default;

    bool is_within(const MachineSize& bound) const {
        return cpu_cores <= bound.cpu_cores && memory_mib <= bound.memory_mib;
    }
};

}  // namespace scheduling
