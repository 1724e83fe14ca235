// PowerSwitch switches our machine off or on again, to recover a Node that hangs.
#pragma once

#include "providers/machine.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"
#include "providers/proxmox/wire/tasks.hpp"
#include "providers/removal.hpp"

namespace providers::proxmox {

class PowerSwitch {
public:
    // All arguments must outlive this.
    PowerSwitch(const Settings& settings, ProxmoxClient& client, VmFinder& machines, Tasks& tasks,
                base::Clock& clock)
        : settings_(settings), client_(client), machines_(machines), tasks_(tasks), pauses_(clock) {}

    // Returns true when the machine is in that state. A machine in use is kept on. Throws ProviderError if it
    // does not exist or is not provably ours.
    asio::awaitable<bool> turn(MachineIdentity identity, MachineRecord record, Power power,
                               InUseCheck in_use);

private:
    // Reports whether a requested task may be running. Such requests are not recorded.
    asio::awaitable<bool> is_at_work(const Look& machine);

    const Settings& settings_;
    ProxmoxClient& client_;
    VmFinder& machines_;
    Tasks& tasks_;
    GrowingPauses pauses_;
};

}  // namespace providers::proxmox
