// Makes random clusters of our own kinds with everything that may stop a launch. They have closed providers,
// limits, rates, pauses, machines launched before, claims in every state, and nodes under removal. Tests use
// them to compare what different parts conclude from the same objects.
#pragma once
#include <cstdint>

#include "test/unit/controllers/cluster.hpp"

namespace random_world {

// Puts the cluster into the API server; the same seed gives the same cluster.
void put(test::Cluster& cluster, std::uint64_t seed);

}  // namespace random_world
