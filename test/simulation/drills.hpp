// People who try out their backup of the control plane while its network is attached. The copy's operator
// sees the machines of the original. This happens in calm worlds with leader election, because an original
// that cannot look at its provider for minutes would not notice the copy.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_drills(World& world);

}  // namespace simulation
