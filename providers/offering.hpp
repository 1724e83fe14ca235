// What a host can still give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "providers/machine.hpp"

namespace providers {

struct HostOffering {
    std::string name;
    std::string zone;
    bool usable = false;         // online, allowed by the configuration, not in maintenance
    std::string why_not;         // if not usable
    std::string remedy;          // if the configuration is to blame for that: what would be right
    bool evacuate = false;       // nodes on it shall leave
    std::int64_t cpu_cores = 0;  // physical
    std::int64_t memory_mib = 0;
    std::int64_t free_cpu_cores = 0;  // what may still be launched there, by committed sizes
    std::int64_t free_memory_mib = 0;
    // That one machine can have at most, however much the host is overcommitted; nullopt: its whole size.
    std::optional<Capacity> largest;
    std::vector<std::string> machines;  // of this provider, by ID: those that the free figures leave out
};

}  // namespace providers
