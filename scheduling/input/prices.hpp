// What a pool's machines cost, for comparisons only: the unit is whatever the pools share.
#pragma once
#include <optional>

#include "scheduling/input/machine_size.hpp"

namespace scheduling {

struct Prices {
    double cpu_core = 4;
    double memory_gib = 1;
    std::optional<double> machine;  // whatever its size; nullopt: what its system and DaemonSets take of it
    bool operator==(const Prices&) const = default;

    double of(double cpu_cores, double memory_mib) const {
        constexpr double kMiBPerGiB = 1024;
        return cpu_cores * cpu_core + memory_mib / kMiBPerGiB * memory_gib;
    }
    // What is paid for a machine.
    double of(const MachineSize& size) const {
        return of(static_cast<double>(size.cpu_cores), static_cast<double>(size.memory_mib)) +
               machine.value_or(0);
    }
};

}  // namespace scheduling
