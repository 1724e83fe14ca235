// Lets a machine go that its user keeps: the mark comes off, nothing else changes.
#pragma once

#include "base/url.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// The configuration change that takes mark and tag away and keeps what the user wrote beside them. Pure.
base::FormFields release_change(const VmConfig& config, const std::string& managed_tag);

class Releaser {
public:
    // All must outlive this.
    Releaser(const Settings& settings, Client& client, VmFinder& machines)
        : settings_(settings), client_(client), machines_(machines) {}

    // True when it is released or does not exist. Throws ProviderError if it cannot be told whose it is.
    asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record);

private:
    const Settings& settings_;
    Client& client_;
    VmFinder& machines_;
};

}  // namespace providers::proxmox
