// Random clusters of our own kinds, with all that may stop a launch: closed providers, limits, paces,
// pauses, machines launched before, claims in every state, nodes that leave. For comparing what different
// parts make of the same objects.
#pragma once
#include <cstdint>

#include "test/unit/controllers/cluster.hpp"

namespace random_world {

// Puts the cluster into the API server; the same seed gives the same cluster.
void put(test::Cluster& cluster, std::uint64_t seed);

}  // namespace random_world
