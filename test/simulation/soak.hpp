// A long life with a few obstacles that come and go again and again: quotas and policies for claims, a
// webhook that refuses evictions, a provider that hangs for hours, watches that are cut or fall silent, and
// now and then another leader. Everything else is well, so that whatever waits can be held against its
// obstacle.
#pragma once

#include <memory>
#include <vector>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/outsiders.hpp"

namespace simulation {

// Three pools of two providers, each with pods of its own, and pods that may run anywhere.
Scenario soak_scenario();
// What belongs to the scenario and is no part of it; its faults. Before any operator starts.
void prepare_soak(World& world);
std::vector<std::unique_ptr<Outsider>> soak_outsiders(World& world);

// No pod waits for a machine that could be made, longer than two minutes after the last obstacle; and what
// waits longer says why, in the words of the obstacle.
std::unique_ptr<Invariant> waits_end_with_their_obstacles(const Stage& stage);

}  // namespace simulation
