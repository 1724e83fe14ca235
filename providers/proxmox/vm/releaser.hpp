// Releases a machine that its user keeps: removes the mark and changes nothing else.
#pragma once

#include "base/url.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"

namespace providers::proxmox {

// Returns the successive changes that remove mark and tag but keep the user's text. The mark comes first:
// even if the second change is refused, a machine with only the tag is not managed. Pure.
std::vector<base::FormFields> release_changes(const VmConfig& config, const std::string& managed_tag);

class Releaser {
public:
    // All arguments must outlive this.
    Releaser(const Settings& settings, ProxmoxClient& client, VmFinder& machines, base::Clock& clock)
        : settings_(settings), client_(client), machines_(machines), pauses_(clock) {}

    // Returns true if the machine is released or does not exist; otherwise call again. Throws ProviderError
    // if its owner is unclear.
    asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record);

private:
    const Settings& settings_;
    ProxmoxClient& client_;
    VmFinder& machines_;
    GrowingPauses pauses_;  // after changes that Proxmox could not make
};

}  // namespace providers::proxmox
