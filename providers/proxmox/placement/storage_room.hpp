// Free room of the storages for machine disks. Pure. A full thin pool stops every guest on it, so the full
// sizes of volumes count instead of their use.
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

// Full size in MiB of the disks of one machine, by storage.
using DiskNeed = std::map<std::string, std::int64_t>;
// Returns the disks of a machine. `source` is the configuration of its template; without options the machine
// is blank.
DiskNeed disk_need(const Settings& settings, const VmConfig& source);

// StorageUse is the known use of one storage, as one host sees it.
struct StorageUse {
    const StorageState* storage = nullptr;
    // nullopt: the token may not see all of them.
    std::optional<VolumeSizes> volumes;
};

struct StorageRoom {
    std::int64_t free_mib = 0;  // may still be committed
    bool is_nearly_full = false;
};
// Returns nullopt if the storage's size is not visible. `need` is the size of each of our machines there.
std::optional<StorageRoom> storage_room(const Settings& settings, const ClusterState& state,
                                        const StorageUse& use,
                                        const std::vector<CapacityReservation>& reservations,
                                        std::int64_t need);

}  // namespace providers::proxmox
