// With rights on a resource pool alone, what is being made cannot be seen before it is in the pool, and so
// neither what a worker left that died before.
#pragma once

#include <string>

#include "providers/machine.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

// The ID on record is taken by a VM that cannot be seen: a creation of ours under this ID is known, and the
// last one left its VM. A clone's task bears its template's ID, so only the record tells of it. Throws
// ProxmoxError.
asio::awaitable<bool> died_out_of_sight(Client& client, Tasks& tasks, MachineRecord record);

// What a person has to do.
std::string hidden_half_made_text(const MachineRecord& record);

}  // namespace providers::proxmox
