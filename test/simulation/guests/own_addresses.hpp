// Models how cloud-init applies a network configuration in a simulated machine.
#pragma once

#include <set>
#include <string>

#include "test/simulators/proxmox/core/hooks.hpp"

namespace simulation {

// Returns the static addresses of the guest, without prefix length. Throws std::runtime_error if some guest
// would not apply the configuration and would have no network. That is so if the version is not 1, or if no
// interface of the machine has the MAC address.
std::set<std::string> own_addresses(const std::string& network_config,
                                    const proxmox_simulator::Config& config);

}  // namespace simulation
