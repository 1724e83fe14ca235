// HostOffering is the capacity that a host can still offer.
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
    std::string why_not;         // set if not usable
    std::string remedy;          // corrects the configuration, if it makes the host unusable
    bool evacuate = false;       // the operator should move nodes away from it
    std::int64_t cpu_cores = 0;  // physical
    std::int64_t memory_mib = 0;
    std::int64_t free_cpu_cores = 0;  // capacity for new machines, from the committed sizes
    std::int64_t free_memory_mib = 0;
    // Limit for one machine, regardless of overcommitment; nullopt: the size of the host.
    std::optional<Capacity> largest;
    std::vector<std::string> machines;  // IDs of this provider's machines; the free capacity excludes them
};

}  // namespace providers
