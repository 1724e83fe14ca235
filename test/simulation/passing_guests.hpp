// Guests of others that come and go with VMIDs in the operator's ranges. A guest is cloned for a while, as
// the lock in its configuration says. It then exists for a while, and is finally destroyed, sometimes without
// its disk.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> passing_guests(World& world);

}  // namespace simulation
