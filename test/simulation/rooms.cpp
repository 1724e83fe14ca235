#include "test/simulation/rooms.hpp"

#include <algorithm>
#include <set>

#include "test/simulation/images.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace simulation {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

bool is_drive(const std::string& option) {
    return option.starts_with("scsi") && option != "scsihw";
}

bool is_allowed(const api::v1alpha1::ProxmoxSpec& spec, const std::string& host) {
    return (spec.nodeWhitelist.empty() || contains(spec.nodeWhitelist, host)) &&
           !contains(spec.placement.excludedNodes, host) && !contains(spec.placement.evacuateNodes, host);
}

bool has_bridges(const api::v1alpha1::ProxmoxSpec& spec, const proxmox::Host& host) {
    return std::ranges::all_of(spec.networkInterfaces, [&host](const auto& wanted) {
        return std::ranges::any_of(host.bridges,
                                   [&wanted](const auto& bridge) { return bridge.name == wanted.bridge; });
    });
}

bool has_storage(const proxmox::World& world, const std::string& id, const std::string& host) {
    const auto found = world.storages.find(id);
    if (found == world.storages.end() || !found->second.enabled || !found->second.active) return false;
    return found->second.hosts.empty() || found->second.hosts.contains(host);
}

const proxmox::Machine* template_at(const proxmox::World& world, const api::v1alpha1::Template& wanted,
                                    const std::string& host) {
    for (const auto& [vmid, machine] : world.machines) {
        if (proxmox::config_flag(machine.config, "template") &&
            proxmox::config_text(machine.config, "name") == wanted.name && machine.node == host)
            return &machine;
    }
    return nullptr;
}

// Returns the storage and the size in GiB of an option such as "fast:20,discard=on".
std::pair<std::string, std::int64_t> new_disk(const boost::json::value& option) {
    const std::string text(option.as_string());
    const auto colon = text.find(':');
    return {text.substr(0, colon), std::stoll(text.substr(colon + 1))};
}

// Reports whether the storage can promise a disk of that size beside all others and the reserve.
bool has_space(const proxmox::World& world, const api::v1alpha1::Placement& placement, const std::string& id,
               const std::string& host, std::int64_t disk_mib) {
    const auto& storage = world.storages.at(id);
    const auto total = static_cast<std::int64_t>(storage.total / proxmox::kMiB);
    const auto used = static_cast<std::int64_t>(proxmox::used_space(storage, host) / proxmox::kMiB);
    std::int64_t promised = 0;
    if (const auto volumes = storage.volumes.find(storage.shared ? std::string() : host);
        volumes != storage.volumes.end())
        for (const auto& [name, volume] : volumes->second)
            if (volume.content == "images")
                promised += static_cast<std::int64_t>(volume.size / proxmox::kMiB);
    const auto reserved = total / 100 * placement.storageReservedPercent;
    const auto free =
        std::min(total / 100 * placement.storageAllocationPercent - std::max(promised, used), total - used) -
        reserved;
    return free >= disk_mib;
}

// Returns the size of a machine's disk on the host; -1 if the provider can make no machine there.
std::int64_t disk_at(const proxmox::World& world, const api::v1alpha1::ProxmoxSpec& spec,
                     const std::string& host) {
    if (!spec.resourcePool.empty() && !world.pools.contains(spec.resourcePool)) return -1;
    std::int64_t disk_mib = 0;
    if (spec.template_ && spec.template_->image) {
        // Every host with the storage finally has a template or can use one.
        if (!has_storage(world, spec.template_->image->storage, host)) return -1;
        disk_mib = std::max(kImageGib, spec.template_->bootDisk.sizeGiB.value_or(0)) * 1024;
        if (!has_space(world, spec.placement, spec.template_->image->storage, host, disk_mib)) return -1;
    } else if (spec.template_) {
        const auto* source = template_at(world, *spec.template_, host);
        if (!source) return -1;
        disk_mib =
            std::max(largest_disk_mib(source->config), spec.template_->bootDisk.sizeGiB.value_or(0) * 1024);
        // The disks of templates that users made are on this storage.
        if (!has_space(world, spec.placement, "local", host, disk_mib)) return -1;
    }
    for (const auto& option : spec.vmOptions) {
        if (!is_drive(option.name)) continue;
        const auto [storage, gib] = new_disk(option.value);
        if (!has_storage(world, storage, host)) return -1;
        if (!has_space(world, spec.placement, storage, host, gib * 1024)) return -1;
        disk_mib = std::max(disk_mib, gib * 1024);
    }
    return disk_mib;
}

void take_promised(const World& world, const api::v1alpha1::ProxmoxSpec& spec, Room& room) {
    std::set<int> made;
    for (const auto& [vmid, machine] : world.proxmox.cluster().world.machines) {
        // A machine that is being made does not have its final size yet.
        const auto lock = proxmox::config_text(machine.config, "lock");
        if (lock == "clone" || lock == "create") continue;
        made.insert(vmid);
        if (machine.node != room.host || proxmox::config_flag(machine.config, "template")) continue;
        const auto tags = proxmox::split(proxmox::config_text(machine.config, "tags"), ';');
        const bool is_kept = std::ranges::find(tags, kKeptTag) != tags.end();
        const bool is_ours = std::ranges::find(tags, spec.managedNodeTag) != tags.end() && !is_kept;
        const bool counts = machine.running || proxmox::config_flag(machine.config, "onboot") || is_ours;
        if (!counts) continue;
        room.free_cpus -= proxmox::vcpus(machine.config);
        room.free_memory_mib -= static_cast<std::int64_t>(proxmox::memory_mib(machine.config));
    }
    for (const auto& [key, claim] : world.view.all<NodeSmithClaim>()) {
        const auto& status = claim->status;
        const bool has_place = status.host == room.host && !status.machineID.empty();
        if (!has_place || made.contains(std::atoi(status.machineID.c_str()))) continue;
        room.free_cpus -= claim->spec.requirements.cpuCores;
        room.free_memory_mib -= claim->spec.requirements.memoryMiB + spec.vmMemOverheadMiB;
    }
}

}  // namespace

std::vector<Room> rooms_for(const World& world, const NodeSmithProvider& provider) {
    const auto& spec = *provider.spec.proxmox;
    const auto& placement = spec.placement;
    const auto& lab = world.proxmox.cluster().world;
    std::vector<Room> rooms;
    for (const auto& host : lab.hosts) {
        const bool is_up = host.powered_on && host.sends_statistics && !host.maintenance;
        if (!is_up || !is_allowed(spec, host.name) || !has_bridges(spec, host)) continue;
        Room room;
        room.host = host.name;
        room.disk_mib = disk_at(lab, spec, host.name);
        if (room.disk_mib < 0) continue;
        const auto memory = static_cast<std::int64_t>(host.memory / proxmox::kMiB);
        const auto& reserved = placement.hostReserved;
        room.free_cpus = host.cpus * placement.cpuAllocationPercent / 100 - reserved.cpuCores;
        room.free_memory_mib = memory * placement.memoryAllocationPercent / 100 - reserved.memoryMiB;
        take_promised(world, spec, room);
        room.cpus = std::min(room.free_cpus, host.cpus - reserved.cpuCores);
        room.memory_mib = std::min(room.free_memory_mib, memory - reserved.memoryMiB);
        rooms.push_back(room);
    }
    return rooms;
}

}  // namespace simulation
