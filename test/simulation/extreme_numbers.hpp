// Users who write the largest numbers that the API server accepts. Their grace periods and durations mean "as
// long as it takes" or "never", and one pod asks for everything. They exist in every fourth seed of the
// users' worlds.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_extreme_numbers(World& world);

}  // namespace simulation
