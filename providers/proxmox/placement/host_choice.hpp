// Which host a machine goes to, by what is committed on each: a decision over values.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "providers/launch.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"

namespace providers::proxmox {

// The user does not keep machines off the host.
bool may_be_used(const Settings& settings, const std::string& host);

// What is promised on a host and what may still be.
struct HostRoom {
    const HostState* host = nullptr;
    std::string why_not;  // empty: machines may be placed here
    std::string remedy;   // if the configuration is to blame for that: what would be right
    bool evacuate = false;
    std::int64_t free_cpus = 0;  // by committed sizes and the allocation percentages; may be negative
    std::int64_t free_memory_mib = 0;
    // What one machine can have at most here, with overhead: the host's real size less hostReserved, however
    // much is promised on it (Proxmox starts no VM with more CPUs than its host has).
    std::int64_t largest_cpus = 0;
    std::int64_t largest_memory_mib = 0;
    std::set<std::int64_t> machines;  // ours, with those that are not visible yet
};

// What makes a host unfit for machines of any size.
struct Obstacle {
    std::string text;    // empty: nothing
    std::string remedy;  // what of the configuration would have to be changed; empty: it is not to blame
};
// By the host's name: no template there, no such bridge.
using HostObstacles = std::map<std::string, Obstacle>;

// The storages that disks of machines and boot images are made on, with the field that names each.
std::map<std::string, std::string> storages_needed(const Settings& settings);

// Guests that count although they are off: those that start on boot, as far as that is known.
using StartsOnBoot = std::set<std::int64_t>;

// One entry per host, by name. Committed is the configured maximum of every guest that runs, starts on boot
// or is ours. `reservations` that are visible in the state already count once: while they are being made,
// by what they are to have.
std::vector<HostRoom> rooms(const Settings& settings, const ClusterState& state,
                            const StartsOnBoot& starts_on_boot, const std::vector<Reservation>& reservations,
                            const HostObstacles& obstacles = {});

struct Demand {
    std::int64_t cpus = 0;
    std::int64_t memory_mib = 0;                 // with overhead
    std::string zone;                            // a host's name; empty: any
    std::vector<std::string> avoid_hosts;        // used if no other is left
    std::map<std::string, int> recent_failures;  // see MachineSpec
    std::string last_placed_host;                // for RoundRobin
};

// The host's name, or why there is none, host by host; permanent if each host is too small or must not be
// used.
std::variant<std::string, InsufficientCapacity> choose_host(const Settings& settings,
                                                            const std::vector<HostRoom>& rooms,
                                                            const Demand& demand);

}  // namespace providers::proxmox
