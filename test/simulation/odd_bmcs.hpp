// BMCs that answer in unexpected ways. Each draws some kinds of odd answers. Some occur from time to time and
// end when there is peace. The others are permanent, and the operator has to cope with them.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_odd_bmcs(World& world);

}  // namespace simulation
