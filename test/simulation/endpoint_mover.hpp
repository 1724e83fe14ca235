// Somebody whose change of the DNS, of a load balancer or of copied values lets the provider's endpoint lead
// to another Proxmox cluster, for some minutes and back.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_endpoint_mover(World& world);

}  // namespace simulation
