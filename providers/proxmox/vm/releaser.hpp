// Lets a machine go that its user keeps: the mark comes off, nothing else changes.
#pragma once

#include "base/url.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"

namespace providers::proxmox {

// The changes, one after the other, that take mark and tag away and keep what the user wrote beside them. The
// mark first: a tag that stays, as the second change is refused, makes it nobody's machine. Pure.
std::vector<base::FormFields> release_changes(const VmConfig& config, const std::string& managed_tag);

class Releaser {
public:
    // All must outlive this.
    Releaser(const Settings& settings, Client& client, VmFinder& machines, base::Clock& clock)
        : settings_(settings), client_(client), machines_(machines), pauses_(clock) {}

    // True when it is released or does not exist, else call again. Throws ProviderError if it cannot be told
    // whose it is.
    asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record);

private:
    const Settings& settings_;
    Client& client_;
    VmFinder& machines_;
    GrowingPauses pauses_;  // after changes that Proxmox could not make
};

}  // namespace providers::proxmox
