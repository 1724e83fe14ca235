// Holds the prices of a pool's machines, for comparisons only. The unit is the one that the pools share.
#pragma once
#include <optional>

#include "scheduling/input/machine_size.hpp"

namespace scheduling {

struct Prices {
    double cpu_core = 4;
    double memory_gib = 1;
    std::optional<double> machine;  // fixed price; nullopt: system and DaemonSets count instead
    bool operator==(const Prices&) const = default;

    double of(double cpu_cores, double memory_mib) const {
        constexpr double kMiBPerGiB = 1024;
        return cpu_cores * cpu_core + memory_mib / kMiBPerGiB * memory_gib;
    }
    // Returns the price of a machine.
    double of(const MachineSize& size) const {
        return of(static_cast<double>(size.cpu_cores), static_cast<double>(size.memory_mib)) +
               machine.value_or(0);
    }
};

}  // namespace scheduling
