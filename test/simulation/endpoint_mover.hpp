// Somebody who changes the DNS, a load balancer or copied values. The provider's endpoint then leads to
// another Proxmox cluster for some minutes.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_endpoint_mover(World& world);

}  // namespace simulation
