// Somebody who destroys many of the operator's machines in one go, and another one who reads what the
// operator says about it and states that the machines are gone.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_fleet_destroyer(World& world);

}  // namespace simulation
