// Somebody who destroys many of the operator's machines in one go. Another person reads what the operator
// reports about it, and states that the machines are gone.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_fleet_destroyer(World& world);

}  // namespace simulation
