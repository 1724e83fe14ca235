// Makes the identifiers that Proxmox makes up.
#pragma once

#include <string>

#include "base/random.hpp"

namespace proxmox_simulator {

// Returns a UUID of version 4 in lower case.
std::string random_uuid(base::Random& random);
// Returns a MAC address in upper case, with Proxmox' own prefix BC:24:11 unless another one such as
// "AA:BB:CC" is set.
std::string random_mac(base::Random& random, const std::string& prefix);

}  // namespace proxmox_simulator
