// Guests of others whose VMIDs are in the operator's ranges, and that come and go: cloned for a while, as the
// lock in their configuration says, then there for a while, and destroyed at last, at times without the disk.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> passing_guests(World& world);

}  // namespace simulation
