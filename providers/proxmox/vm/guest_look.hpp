// Reads information about a machine from its guest agent.
#pragma once

#include "providers/capabilities.hpp"
#include "providers/machine.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// Implements GuestObserver::look_at_guest.
asio::awaitable<GuestSight> look_at_guest(ProxmoxClient& client, MachineRecord record);

// Returns why the agent could not be asked, as text for people.
std::string obstacle_of(const ProxmoxError& error);

// Returns the addresses in agent/network-get-interfaces. A guest may report anything, so texts that are no
// addresses are dropped.
std::vector<std::string> guest_addresses(const boost::json::value& data);

}  // namespace providers::proxmox
