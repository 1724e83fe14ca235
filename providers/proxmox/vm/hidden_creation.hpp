// A token limited to a resource pool cannot see a VM until Proxmox adds it to the pool. So a creation that
// dies earlier leaves an invisible VM.
#pragma once

#include <string>

#include "providers/machine.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

// Reports whether the invisible VM with the recorded ID is ours: our last creation with this ID left its VM.
// A clone's task has its template's ID, so only the record reveals it. Throws ProxmoxError.
asio::awaitable<bool> died_out_of_sight(ProxmoxClient& client, Tasks& tasks, MachineRecord record);

// Returns what a person must do.
std::string hidden_half_made_text(const MachineRecord& record);

}  // namespace providers::proxmox
