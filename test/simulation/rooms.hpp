// What is left on each Proxmox host for machines of a provider, counted from the simulated world itself.
#pragma once

#include <string>
#include <vector>

#include "test/simulation/world.hpp"

namespace simulation {

struct Room {
    std::string host;
    std::int64_t free_cpus = 0, free_memory_mib = 0;  // what is not promised yet
    // For one machine: of that no more than the host has less its reserve.
    std::int64_t cpus = 0, memory_mib = 0;
    std::int64_t disk_mib = 0;  // of the machine's disk; 0: it has none
};

// Hosts that can take a machine of the provider, whatever its size: on, allowed, with its bridges, storages,
// template and resource pool. What runs, starts on boot, is ours or was promised counts as taken.
std::vector<Room> rooms_for(const World& world, const NodeSmithProvider& provider);

}  // namespace simulation
