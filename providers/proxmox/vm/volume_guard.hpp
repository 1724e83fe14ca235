// Stands before each destruction: whatever the VM's configuration names that was not made with the VM is
// taken off, or holds the destruction.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

class VolumeGuard {
public:
    // Must outlive this.
    explicit VolumeGuard(Client& client) : client_(client) {}

    // To be called right before the VM, which is off, is destroyed. Volumes with another VMID are taken out
    // of its configuration; they stay what they are. Returns why the VM must not be destroyed and what a
    // person can do; empty: Proxmox will delete nothing but what was made with it. Throws ProxmoxError,
    // FencedError.
    asio::awaitable<std::string> obstacle(std::string host, std::int64_t vmid, MadeVolumes made);

private:
    struct Seen {
        std::vector<VolumeUse> uses;
        std::string digest;
    };
    asio::awaitable<Seen> look(std::string host, std::int64_t vmid);
    asio::awaitable<void> detach(std::string host, std::int64_t vmid, std::vector<VolumeUse> others,
                                 std::string digest);
    // Drives whose disk, which was made with the VM, somebody moved to another storage: there it has another
    // name.
    asio::awaitable<std::set<std::string>> moved_drives(std::string host, std::int64_t vmid,
                                                        MadeVolumes made);

    Client& client_;
};

}  // namespace providers::proxmox
