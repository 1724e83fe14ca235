#include "providers/proxmox/placement/host_choice.hpp"

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/vm/half_made.hpp"

namespace providers::proxmox {

namespace {

using api::v1alpha1::PlacementStrategy;

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

Obstacle missing_storage(const Settings& settings, const ClusterState& state, const std::string& host) {
    for (const auto& [name, field] : storages_needed(settings)) {
        // A storage that no host shows may just be hidden from the token.
        if (!state.find_storage(name)) continue;
        const auto* here = state.find_storage(name, host);
        if (!here) return {"has no storage " + name, "let it have that storage, or name another in " + field};
        if (!here->is_available) return {"storage " + name + " is not available there", ""};
    }
    return {};
}

// Returns the setting by which the user excludes the host; empty: none.
std::string exclusion(const Settings& settings, const std::string& host) {
    const auto& allowed = settings.spec.nodeWhitelist;
    if (!allowed.empty() && !contains(allowed, host)) return "not in nodeWhitelist";
    if (contains(settings.spec.placement.excludedNodes, host)) return "in placement.excludedNodes";
    return {};
}

// Returns why the host may not get machines of any size; empty: it may.
std::string refusal(const Settings& settings, const HostState& host) {
    const auto& placement = settings.spec.placement;
    if (auto excluded = exclusion(settings, host.name); !excluded.empty()) return excluded;
    if (contains(placement.evacuateNodes, host.name)) return "in placement.evacuateNodes";
    if (!host.is_online) return host.why_unused();
    if (host.in_maintenance) return "in maintenance";
    if (host.cpus == 0 || host.memory_mib == 0)
        return "its size is not visible: the token lacks Sys.Audit on /nodes/" + host.name;
    const auto idle_cpus = static_cast<double>(host.cpus) * (1 - host.cpu_use);
    if (idle_cpus < static_cast<double>(placement.minAvailable.cpuCores))
        return "fewer idle CPUs than placement.minAvailable";
    if (host.memory_mib - host.memory_used_mib < placement.minAvailable.memoryMiB) {
        return "less free memory than placement.minAvailable";
    }
    return {};
}

// Returns why the host cannot take this machine; empty: it fits.
std::string obstacle(const HostRoom& room, const PlacementRequest& demand) {
    if (!room.why_not.empty()) return room.why_not;
    if (!demand.zone.empty() && demand.zone != room.host->name) return "not zone " + demand.zone;
    if (demand.cpus > room.largest_cpus) {
        return "can give one machine at most " + std::to_string(room.largest_cpus) + " of its " +
               base::counted(room.host->cpus, "CPU") + ", needed " + std::to_string(demand.cpus);
    }
    if (demand.memory_mib > room.largest_memory_mib) {
        return "can give one machine at most " + std::to_string(room.largest_memory_mib) + " of its " +
               std::to_string(room.host->memory_mib) + " MiB, needed " + std::to_string(demand.memory_mib);
    }
    if (demand.cpus > room.free_cpus) {
        return base::counted(std::max<std::int64_t>(room.free_cpus, 0), "CPU") +
               " not reserved yet, needed " + std::to_string(demand.cpus);
    }
    if (demand.memory_mib > room.free_memory_mib) {
        return std::to_string(std::max<std::int64_t>(room.free_memory_mib, 0)) +
               " MiB not reserved yet, needed " + std::to_string(demand.memory_mib);
    }
    return {};
}

// Reports whether the machine can never fit on the host.
bool is_never_fit(const Settings& settings, const HostRoom& room, const PlacementRequest& demand) {
    if (!exclusion(settings, room.host->name).empty()) return true;
    // The size of a host that is off is unknown.
    if (room.host->cpus == 0 || room.host->memory_mib == 0) return false;
    return demand.cpus > room.largest_cpus || demand.memory_mib > room.largest_memory_mib;
}

double free_fraction(std::int64_t free, std::int64_t total) {
    return total > 0 ? static_cast<double>(free) / static_cast<double>(total) : 0;
}

double balance(const HostRoom& room, const PlacementRequest& demand) {
    return (free_fraction(room.free_cpus - demand.cpus, room.host->cpus) +
            free_fraction(room.free_memory_mib - demand.memory_mib, room.host->memory_mib)) /
           2;
}

int failures_on(const std::string& host, const PlacementRequest& demand) {
    const auto found = demand.recent_failures.find(host);
    return found == demand.recent_failures.end() ? 0 : found->second;
}

// Ranks hosts; smaller is better. Equal hosts are ordered by our number of machines and then by name. A host
// that failed this machine comes last, and before it those that recently failed other machines.
auto rank(PlacementStrategy strategy, const HostRoom& room, const PlacementRequest& demand) {
    double first = 0;
    double second = 0;
    switch (strategy) {
        case PlacementStrategy::Spread:
            first = static_cast<double>(room.machines.size());
            second = -static_cast<double>(room.free_memory_mib);
            break;
        case PlacementStrategy::MaxMemory:
            first = -static_cast<double>(room.free_memory_mib);
            break;
        case PlacementStrategy::MaxCPU:
            first = -static_cast<double>(room.free_cpus);
            break;
        case PlacementStrategy::Balanced:
            first = -balance(room, demand);
            break;
        case PlacementStrategy::RoundRobin:
            first = room.host->name > demand.last_placed_host ? 0 : 1;
            break;
        case PlacementStrategy::Unrecognized:
            break;  // ordered by name
    }
    const auto machines = strategy == PlacementStrategy::RoundRobin ? 0 : std::ssize(room.machines);
    const auto& name = room.host->name;
    return std::tuple(contains(demand.avoid_hosts, name), failures_on(name, demand), first, second, machines,
                      name);
}

}  // namespace

bool may_be_used(const Settings& settings, const std::string& host) {
    return exclusion(settings, host).empty();
}

std::map<std::string, std::string> storages_needed(const Settings& settings) {
    std::map<std::string, std::string> fields;
    for (const auto& [name, value] : settings.vm_options) {
        const bool is_cdrom = PropertyString::parse(value).find("media") == "cdrom";
        if (is_drive(name) && !is_cdrom)
            fields.emplace(storage_of_drive(value), "spec.proxmox.vmOptions (" + name + ")");
    }
    if (const auto* image = settings.template_image())
        fields.emplace(image->storage, "spec.proxmox.template.image.storage");
    if (settings.spec.template_)
        fields.emplace(settings.spec.template_->storage, "spec.proxmox.template.storage");
    if (settings.spec.cloudInit)
        fields.emplace(settings.spec.cloudInit->isoStorage, "spec.proxmox.cloudInit.isoStorage");
    fields.erase("");
    return fields;
}

std::vector<HostRoom> rooms(const Settings& settings, const ClusterState& state,
                            const StartsOnBoot& starts_on_boot,
                            const std::vector<CapacityReservation>& reservations,
                            const HostObstacles& obstacles) {
    const auto& placement = settings.spec.placement;
    const auto tag = parse_tags(settings.managed_tag());
    std::set<std::int64_t> reserved;
    for (const auto& reservation : reservations) reserved.insert(vmid_of(reservation.machine_id));
    std::vector<HostRoom> result;
    for (const auto& host : state.hosts) {
        HostRoom room;
        room.host = &host;
        room.why_not = refusal(settings, host);
        const auto hinder = [&room](const Obstacle& obstacle) {
            if (!room.why_not.empty()) return;
            room.why_not = obstacle.text;
            room.remedy = obstacle.remedy;
        };
        hinder(missing_storage(settings, state, host.name));
        const auto known = obstacles.find(host.name);
        if (known != obstacles.end()) hinder(known->second);
        room.evacuate = host.in_maintenance || contains(placement.evacuateNodes, host.name);
        room.free_cpus = host.cpus * placement.cpuAllocationPercent / 100 - placement.hostReserved.cpuCores;
        room.free_memory_mib =
            host.memory_mib * placement.memoryAllocationPercent / 100 - placement.hostReserved.memoryMiB;
        room.largest_cpus =
            std::max<std::int64_t>(0, std::min(room.free_cpus, host.cpus - placement.hostReserved.cpuCores));
        room.largest_memory_mib = std::max<std::int64_t>(
            0, std::min(room.free_memory_mib, host.memory_mib - placement.hostReserved.memoryMiB));
        for (const auto& guest : state.guests) {
            if (guest.node != host.name || guest.is_template) continue;
            const bool is_ours = std::ranges::includes(guest.tags, tag) && !guest.tags.contains(kSetAsideTag);
            if (is_ours) room.machines.insert(guest.vmid);
            const bool counts = guest.is_running || is_ours || starts_on_boot.contains(guest.vmid);
            if (!counts || (is_creation_lock(guest.lock) && reserved.contains(guest.vmid))) continue;
            room.free_cpus -= guest.cpus;
            room.free_memory_mib -= guest.memory_mib;
        }
        for (const auto& reservation : reservations) {
            const auto vmid = vmid_of(reservation.machine_id);
            const auto* guest = state.find_guest(vmid);
            if (reservation.host != host.name || (guest && !is_creation_lock(guest->lock))) continue;
            room.machines.insert(vmid);
            room.free_cpus -= reservation.cpu_cores;
            room.free_memory_mib -= reservation.memory_mib + settings.spec.vmMemOverheadMiB;
        }
        result.push_back(std::move(room));
    }
    return result;
}

std::variant<std::string, InsufficientCapacity> choose_host(const Settings& settings,
                                                            const std::vector<HostRoom>& rooms,
                                                            const PlacementRequest& demand) {
    const auto strategy = settings.spec.placement.strategy;
    const HostRoom* best = nullptr;
    std::string obstacles;
    for (const auto& room : rooms) {
        if (const auto why_not = obstacle(room, demand); !why_not.empty()) {
            obstacles += (obstacles.empty() ? "" : "; ") + room.host->name + ": " + why_not;
            if (!room.remedy.empty()) obstacles += " (" + room.remedy + ")";
        } else if (!best || rank(strategy, room, demand) < rank(strategy, *best, demand)) {
            best = &room;
        }
    }
    if (best) return best->host->name;
    InsufficientCapacity result;
    result.permanent = !rooms.empty() && std::ranges::all_of(rooms, [&](const HostRoom& room) {
        return is_never_fit(settings, room, demand);
    });
    result.message = obstacles.empty() ? "Proxmox shows no host: the token lacks Sys.Audit on /nodes"
                                       : "no host can take the machine: " + obstacles;
    return result;
}

}  // namespace providers::proxmox
