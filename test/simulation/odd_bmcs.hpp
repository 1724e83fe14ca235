// BMCs that answer otherwise than they should: each draws some kinds of odd answers. Those that a BMC gives
// now and then end when there is peace. Those that are its nature last, and the operator has to live with
// them.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_odd_bmcs(World& world);

}  // namespace simulation
