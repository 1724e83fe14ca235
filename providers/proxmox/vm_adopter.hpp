// Adopts VMs that have the tag of managed machines but no mark. Name, tag and UUID must all match.
#pragma once

#include "providers/capabilities.hpp"
#include "providers/machine.hpp"
#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// Returns why the VM must not be adopted as that machine; empty: it may be, or it already is. Pure.
std::string adoption_obstacle(const VmConfig& config, const MachineIdentity& identity,
                              const std::string& managed_tag);

class VmAdopter {
public:
    // All arguments must outlive this.
    VmAdopter(const Settings& settings, ProxmoxClient& client, ClusterView& view)
        : settings_(settings), client_(client), view_(view) {}

    asio::awaitable<AdoptResult> adopt(MachineIdentity identity);

private:
    asio::awaitable<Adopted> adopted(const Guest& guest);

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
};

}  // namespace providers::proxmox
