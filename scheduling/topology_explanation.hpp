// Says for people how other pods keep a pod from a pool's new machines: by affinity, anti-affinity and
// spreads, by their host ports, or because they get the volumes.
#pragma once
#include <string>

#include "scheduling/pod_placer.hpp"

namespace scheduling {

// Returns the obstacle, and removes from `places` those where a new machine would break a rule about other
// pods; empty: none.
std::string obstacle_at(const Snapshot& snapshot, PodPlacer& placer, const PodClass& pod_class, ClassId id,
                        BitSet& places, std::size_t pool);

}  // namespace scheduling
