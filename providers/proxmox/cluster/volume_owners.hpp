// Finds the VMIDs that own volumes, including VMIDs without a VM. Such volumes are kept disks of an old VM,
// volumes of a CSI plugin, or disks of another cluster. Proxmox omits what the token may not see, so an ID
// may own hidden volumes. Therefore no removal depends on this.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"

namespace providers::proxmox {

// Returns, for example, "all VMIDs from 100 to 102 are taken, some by volumes that no guest has (101:
// local-lvm:vm-101-disk-0)". `volumes` has one volume per VMID. Pure.
std::string all_taken_text(const IDRange& range, const std::map<std::int64_t, std::string>& volumes);

class VolumeOwners {
public:
    // Both arguments must outlive this.
    VolumeOwners(ProxmoxClient& client, base::Clock& clock)
        : client_(client), clock_(clock), pauses_(clock) {}

    // One volume for each VMID without a guest, by VMID.
    using Volumes = std::map<std::int64_t, std::string>;
    // Returns the volumes on the host's storages for disks, shared ones included. A list of at most `max_age`
    // is reused; for an unreadable storage the last list is.
    asio::awaitable<Volumes> on(std::string host, ClusterView::StatePointer state, base::Duration max_age);
    // Reads the list of one storage unless it is younger than max_age.
    asio::awaitable<void> refresh(StorageState storage, base::Duration max_age);
    // Returns the full sizes of the volumes in the last list. Key 0 has the volumes without a VMID. nullopt:
    // never read.
    std::optional<VolumeSizes> sizes(const StorageState& storage) const;
    // Returns the cached volumes like on(). Sends no request.
    Volumes known(const std::string& host, const ClusterState& state) const;

private:
    struct List {
        Volumes volumes;
        VolumeSizes sizes;
        base::TimePoint read_at;
    };
    asio::awaitable<void> read(std::string key, StorageState storage);

    ProxmoxClient& client_;
    base::Clock& clock_;
    GrowingPauses pauses_;               // after storages that could not be read
    std::map<std::string, List> lists_;  // by storage, and by host if the storage is local
};

}  // namespace providers::proxmox
