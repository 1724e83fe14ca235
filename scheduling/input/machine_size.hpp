// CPU and memory of a machine, before the system takes its part.
#pragma once
#include <cstdint>

namespace scheduling {

struct MachineSize {
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    bool operator==(const MachineSize&) const = default;

    bool is_within(const MachineSize& bound) const {
        return cpu_cores <= bound.cpu_cores && memory_mib <= bound.memory_mib;
    }
};

}  // namespace scheduling
