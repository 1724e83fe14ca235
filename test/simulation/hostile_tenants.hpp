// Users with the role edit in one namespace, in every fourth seed. Their DaemonSets ask for more than any
// machine has, or can never run. Their volume claims are as large as the API server accepts.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_hostile_tenants(World& world);

}  // namespace simulation
