// What the guest agent of a machine tells about it.
#pragma once

#include "providers/capabilities.hpp"
#include "providers/machine.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// See GuestObserver.
asio::awaitable<GuestSight> look_at_guest(Client& client, MachineRecord record);

// Why the agent could not be asked, as it is shown.
std::string obstacle_of(const ProxmoxError& error);

// Out of agent/network-get-interfaces. A guest may say what it likes: only what can be an address is taken.
std::vector<std::string> guest_addresses(const boost::json::value& data);

}  // namespace providers::proxmox
