// A long life with a few obstacles that come and go again and again. These are quotas and policies for
// claims, a webhook that refuses evictions, and a provider that hangs or refuses machines for hours. Watches
// are cut or fall silent, and the leader changes from time to time. Everything else is well, so each wait can
// be traced to its obstacle.
#pragma once

#include <memory>
#include <vector>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/outsiders.hpp"

namespace simulation {

// Returns three pools of two providers, with pods for each pool and pods that may run anywhere.
Scenario soak_scenario();
// Adds the second provider's Secret and sets the faults. Call it before any operator starts.
void prepare_soak(World& world);
std::vector<std::unique_ptr<Outsider>> soak_outsiders(World& world);

// No pod waits longer than two minutes after the last obstacle for a machine that could be made. A pod that
// waits longer reports why, in the words of the obstacle.
std::unique_ptr<Invariant> waits_end_with_their_obstacles(const Stage& stage);

}  // namespace simulation
