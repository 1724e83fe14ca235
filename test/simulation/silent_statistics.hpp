// Proxmox hosts whose pvestatd hangs for minutes. Their tasks go on, but the cluster's lists show the last
// figures of the host and its machines. After five minutes they show none, and the status "unknown".
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> silent_statistics(World& world);

}  // namespace simulation
