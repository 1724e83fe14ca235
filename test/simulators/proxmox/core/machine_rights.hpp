// Checks rights that depend on the settings themselves: options, drives, bridges.
#pragma once

#include <string>

#include "test/simulators/proxmox/core/router.hpp"

namespace proxmox_simulator {

// Requires VM.* on the machine or, while it is being created, on the pool that it will join.
void require_machine_right(const Call& call, int vmid, const std::string& pool,
                           const std::vector<std::string_view>& privileges);
// Requires that the caller may set each option of `config`: privileges of options, storages of drives,
// bridges (SDN.Use). Throws 403, "only root can set 'args' config", "storage 'x' does not exist" and
// parameter errors for drives.
void require_config_rights(const Call& call, int vmid, const std::string& pool, const Config& config);
// Requires that the caller may remove the option.
void require_option_right(const Call& call, int vmid, const std::string& pool, const std::string& option);

// Requires SDN.Use on the bridge of a network interface's value, or on its VLAN there.
void require_bridge(const World& world, const std::string& user, const std::string& net);

// NewDisk is a drive's volume text that asks for a new disk, such as "local:8".
struct NewDisk {
    std::string storage;
    std::uint64_t size = 0;
};
std::optional<NewDisk> parse_new_disk(const std::string& volume, const std::string& default_storage);

// Checks sshkeys as Proxmox does. Throws "SSH public key validation error".
void require_valid_ssh_keys(const std::string& encoded);

}  // namespace proxmox_simulator
