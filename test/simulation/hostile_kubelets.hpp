// Kubelets that were taken over, in every fourth seed: each writes of its own Node what NodeRestriction lets
// it, and asks for certificates that name what is not its machine's. Thieves of bootstrap tokens are counted,
// too.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_hostile_kubelets(World& world);

}  // namespace simulation
