// Users with the role edit in one namespace, in every fourth seed: their DaemonSets ask for more than any
// machine has or can never run, and their volume claims are as large as the API server takes.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_hostile_tenants(World& world);

}  // namespace simulation
