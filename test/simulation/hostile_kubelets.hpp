// Hijacked kubelets, in every fourth seed. Each writes false data into its own Node, as far as
// NodeRestriction allows. It also asks for certificates that name what is not its machine's. This outsider
// also counts the thieves of bootstrap tokens.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_hostile_kubelets(World& world);

}  // namespace simulation
