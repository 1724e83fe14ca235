// Identifiers that Proxmox makes up.
#pragma once

#include <string>

#include "base/random.hpp"

namespace proxmox_simulator {

// Version 4, lower case.
std::string random_uuid(base::Random& random);
// Upper case, with Proxmox' own prefix BC:24:11 unless another one is set ("AA:BB:CC").
std::string random_mac(base::Random& random, const std::string& prefix);

}  // namespace proxmox_simulator
