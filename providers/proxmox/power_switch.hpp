// Switches a machine of ours off or on again: how a Node that hangs is given a second chance.
#pragma once

#include "providers/proxmox/client.hpp"
#include "providers/proxmox/machines.hpp"

namespace providers::proxmox {

class PowerSwitch {
public:
    // All must outlive this.
    PowerSwitch(const Settings& settings, Client& client, Machines& machines)
        : settings_(settings), client_(client), machines_(machines) {}

    // True when the machine is so; one that is in use stays on. Throws ProviderError if it does not exist or
    // is not provably ours.
    asio::awaitable<bool> turn(MachineIdentity identity, MachineRecord record, Power power,
                               InUseCheck in_use);

private:
    const Settings& settings_;
    Client& client_;
    Machines& machines_;
};

}  // namespace providers::proxmox
