// What cloud-init makes of a network configuration in a simulated machine.
#pragma once

#include <set>
#include <string>

#include "test/simulators/proxmox/core/hooks.hpp"

namespace simulation {

// The static addresses that the guest has, without prefix length. Throws std::runtime_error if the
// configuration is one that some guest would not apply: not of version 1, or for a MAC address that no
// interface of the machine has, so that the guest would be without any network.
std::set<std::string> own_addresses(const std::string& network_config,
                                    const proxmox_simulator::Config& config);

}  // namespace simulation
