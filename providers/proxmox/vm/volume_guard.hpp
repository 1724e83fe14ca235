// VolumeGuard runs before each destruction. Volumes in the VM's configuration that were not made with the VM
// are detached, or they block the destruction.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

class VolumeGuard {
public:
    // `client` must outlive this.
    explicit VolumeGuard(ProxmoxClient& client) : client_(client) {}

    // Call this directly before a stopped VM is destroyed. It detaches volumes with another VMID, which are
    // kept. Returns why the VM must not be destroyed and what a person can do. Empty: Proxmox will only
    // delete what was made with the VM. `proven_digest` is that of the configuration which proved the VM
    // ours: nothing is detached from a VM that was changed since. Throws ProxmoxError, FencedError.
    asio::awaitable<std::string> obstacle(std::string host, std::int64_t vmid, MadeVolumes made,
                                          std::string proven_digest);

private:
    asio::awaitable<std::vector<VolumeUse>> look(std::string host, std::int64_t vmid);
    asio::awaitable<void> detach(std::string host, std::int64_t vmid, std::vector<VolumeUse> others,
                                 std::string digest);
    // Returns drives whose original disk somebody moved to another storage, where it has another name.
    asio::awaitable<std::set<std::string>> moved_drives(std::string host, std::int64_t vmid,
                                                        MadeVolumes made);

    ProxmoxClient& client_;
};

}  // namespace providers::proxmox
