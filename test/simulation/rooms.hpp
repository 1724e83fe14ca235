// Computes the room on each Proxmox host for machines of a provider. It counts in the simulated world itself.
#pragma once

#include <string>
#include <vector>

#include "test/simulation/world.hpp"

namespace simulation {

struct Room {
    std::string host;
    std::int64_t free_cpus = 0, free_memory_mib = 0;  // what is not promised yet
    // Limit for one machine: the host's own resources without its reserve.
    std::int64_t cpus = 0, memory_mib = 0;
    std::int64_t disk_mib = 0;  // size of the machine's disk; 0: no disk
};

// Returns the hosts that can take a machine of the provider, whatever its size. Such a host is on, is
// allowed, and has the bridges, storages, template and resource pool. A machine counts as taking room if it
// runs, starts on boot, is ours, or was promised.
std::vector<Room> rooms_for(const World& world, const NodeSmithProvider& provider);

}  // namespace simulation
