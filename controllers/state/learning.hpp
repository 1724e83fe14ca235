// Learns a pool's offer from its Nodes. Each kubelet writes what its Node offers. So a single Node is
// believed only near the expected value; further away two Nodes must agree. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/state/pool_status.hpp"

namespace controllers {

// Returns how much less than expected the pool's machines offer. The amount is kernel and firmware (size -
// capacity) plus what the kubelet reserves (capacity - allocatable). It is the maximum of its Nodes and of
// what was learned for the template with that hash. nullopt: unknown.
std::optional<api::v1alpha1::SystemReserved> learn_reserved(const PoolObservation& facts,
                                                            const std::string& template_hash);

// Returns the minimum of the other resources that Nodes of the template with that hash offer. Without
// a Node it returns the known value.
std::optional<api::v1alpha1::LearnedOffer> learn_offer(const PoolObservation& facts,
                                                       const std::string& template_hash);

// Records both, and what newest_nodes.hpp learns. A value that no Node shows any longer is dropped after a
// week.
void note_learned(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now);

// Explains why no machine of the pool offers anything to pods; empty: one does.
std::string why_nothing_offered(const NodeSmithPool& pool);

}  // namespace controllers
