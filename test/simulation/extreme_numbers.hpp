// Users who write the largest numbers that the API server takes: grace periods and durations that mean "as
// long as it takes" or "never", and a pod that asks for everything. In every fourth seed of the users'
// worlds.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_extreme_numbers(World& world);

}  // namespace simulation
