// A Proxmox host that loses the others for a while, often the one that the operator asks first. It answers,
// has no quorum, and shows the cluster as it was.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> isolation(World& world);

}  // namespace simulation
