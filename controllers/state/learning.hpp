// What a pool learns from its Nodes. Each Node's kubelet writes what it offers, so a single Node is believed
// only near to what was expected of it, and further away two Nodes have to agree. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/state/pool_status.hpp"

namespace controllers {

// What machines of the pool have less to offer than they were launched for: kernel and firmware (size -
// capacity) plus what the kubelet keeps (capacity - allocatable), the most that its Nodes show or that was
// learned of the template with that hash. nullopt: nothing is known.
std::optional<api::v1alpha1::SystemReserved> learn_reserved(const PoolObservation& facts,
                                                            const std::string& template_hash);

// The least that Nodes of the template with that hash offer besides, or what was known of it if there is
// none.
std::optional<api::v1alpha1::LearnedOffer> learn_offer(const PoolObservation& facts,
                                                       const std::string& template_hash);

// Writes down both. What no Node shows any more is dropped after a week.
void note_learned(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now);

// Explains why no machine of the pool has anything to offer to pods; empty: one has.
std::string why_nothing_offered(const NodeSmithPool& pool);

}  // namespace controllers
