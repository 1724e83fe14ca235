// Chooses a host for a machine by the committed capacity of each host. Pure.
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

// Reports whether the user allows machines on the host.
bool may_be_used(const Settings& settings, const std::string& host);

// HostRoom has the committed and the free capacity of a host.
struct HostRoom {
    const HostState* host = nullptr;
    std::string why_not;  // empty: it may get machines
    std::string remedy;   // corrects the configuration, if it is the cause
    bool evacuate = false;
    std::int64_t free_cpus = 0;  // from committed sizes and allocation percentages; may be negative
    std::int64_t free_memory_mib = 0;
    // Limit for one machine with overhead: the host's real size without hostReserved, regardless of
    // commitments. (Proxmox starts no VM with more CPUs than its host has.)
    std::int64_t largest_cpus = 0;
    std::int64_t largest_memory_mib = 0;
    std::set<std::int64_t> machines;  // our machines, including those not visible yet
};

// Obstacle makes a host unfit for machines of any size.
struct Obstacle {
    std::string text;    // empty: no obstacle
    std::string remedy;  // required change of the configuration; empty: it is not the cause
};
// Obstacles by host name, e.g. a missing template or bridge.
using HostObstacles = std::map<std::string, Obstacle>;

// Returns the storages for disks and boot images, each with the field that names it.
std::map<std::string, std::string> storages_needed(const Settings& settings);

// Guests that are off but count because they start on boot, as far as known.
using StartsOnBoot = std::set<std::int64_t>;

// Returns one entry per host, by name. The committed capacity is the configured maximum of every guest that
// runs, starts on boot or is ours. A reservation that the state already shows counts once; while its machine
// is being made, its planned size counts.
std::vector<HostRoom> rooms(const Settings& settings, const ClusterState& state,
                            const StartsOnBoot& starts_on_boot,
                            const std::vector<CapacityReservation>& reservations,
                            const HostObstacles& obstacles = {});

struct PlacementRequest {
    std::int64_t cpus = 0;
    std::int64_t memory_mib = 0;                 // including overhead
    std::string zone;                            // a host's name; empty: any
    std::vector<std::string> avoid_hosts;        // used only if no other host is left
    std::map<std::string, int> recent_failures;  // see MachineSpec
    std::string last_placed_host;                // used by RoundRobin
};

// Returns the host's name, or the reason for each host. The result is permanent if each host is too small or
// excluded.
std::variant<std::string, InsufficientCapacity> choose_host(const Settings& settings,
                                                            const std::vector<HostRoom>& rooms,
                                                            const PlacementRequest& demand);

}  // namespace providers::proxmox
