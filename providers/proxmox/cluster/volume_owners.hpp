// Which VMIDs have volumes, also those that no VM has: kept disks of an old VM, volumes of a CSI plugin,
// disks of another cluster on the same storage. Proxmox leaves out what the token may not see, so an ID that
// does not show may have volumes all the same: what is destroyed never depends on this look.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"

namespace providers::proxmox {

// "all VMIDs from 100 to 102 are taken, some by volumes that no guest has (101: local-lvm:vm-101-disk-0)".
// `volumes`: one of each VMID. Pure.
std::string all_taken_text(const IDRange& range, const std::map<std::int64_t, std::string>& volumes);

class VolumeOwners {
public:
    // Both must outlive this.
    VolumeOwners(Client& client, base::Clock& clock) : client_(client), clock_(clock), pauses_(clock) {}

    // One volume of each VMID that no guest has, by the VMID.
    using Volumes = std::map<std::int64_t, std::string>;
    // Of the storages for disks that the host has, also shared ones. A list of at most `max_age` serves
    // again; of a storage that cannot be read the last one does.
    asio::awaitable<Volumes> on(std::string host, ClusterView::StatePointer state, base::Duration max_age);
    // Reads the list of one storage unless it is younger than that.
    asio::awaitable<void> refresh(StorageState storage, base::Duration max_age);
    // The full sizes of the volumes that the last list shows; 0 stands for those that no VMID owns. Nullopt:
    // it was never read.
    std::optional<VolumeSizes> sizes(const StorageState& storage) const;
    // The same as far as it is known. Asks nobody.
    Volumes known(const std::string& host, const ClusterState& state) const;

private:
    struct List {
        Volumes volumes;
        VolumeSizes sizes;
        base::TimePoint read_at;
    };
    asio::awaitable<void> read(std::string key, StorageState storage);

    Client& client_;
    base::Clock& clock_;
    GrowingPauses pauses_;               // of storages that could not be read
    std::map<std::string, List> lists_;  // by storage, and host if that has its own
};

}  // namespace providers::proxmox
