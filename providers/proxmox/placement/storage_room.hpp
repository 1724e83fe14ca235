// How much of the storages that machines' disks are made on may still be promised: a decision over values. A
// thin pool that runs full stops every guest on it, so what volumes may grow to counts, not what they use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "providers/launch.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

// The full size of the disks that one machine gets, in MiB by storage.
using DiskNeed = std::map<std::string, std::int64_t>;
// `source`: the configuration of the template that it is cloned from; without options: it is a blank one.
DiskNeed disk_need(const Settings& settings, const VmConfig& source);

// What is known of one storage, as one host sees it.
struct StorageUse {
    const StorageState* storage = nullptr;
    // Nullopt: the token may not see all of them.
    std::optional<VolumeSizes> volumes;
};

struct StorageRoom {
    std::int64_t free_mib = 0;  // that may still be promised
    bool is_nearly_full = false;
};
// Nullopt: the size of the storage is not visible. `need`: what each machine of ours has there.
std::optional<StorageRoom> storage_room(const Settings& settings, const ClusterState& state,
                                        const StorageUse& use, const std::vector<Reservation>& reservations,
                                        std::int64_t need);

}  // namespace providers::proxmox
