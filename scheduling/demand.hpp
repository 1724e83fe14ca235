// Which pods are to be placed, and in which order.
#pragma once
#include <cstdint>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/pods/pod_class.hpp"

namespace scheduling {

struct Demand {
    const api::Pod* pod = nullptr;
    ClassId pod_class = 0;
    bool is_displaced = false;  // it runs, on a leaving node
    bool can_wait = true;       // for a node that is still coming
    bool comes_last = false;    // it will wait only once all the others have found a place or none
    // The order: else more important pods first, then those that need machines of their own (others fill
    // these up afterwards), then larger, then older ones; last a number made from the UID, so that the order
    // of the snapshot does not matter.
    std::int32_t priority = 0;
    std::int32_t apartness = 0;
    double size = 0;  // its largest share of the largest machine or node
    std::int64_t created = 0;
    std::uint64_t tie = 0;
};

// In order. `largest`: by what sizes are measured. `displaced_last`: the leaving nodes are not given up yet,
// so pods that wait get what is free before the successors of theirs are there.
std::vector<Demand> ordered_demand(const Snapshot& snapshot, PodClasses& classes, const Amounts& largest,
                                   bool displaced_last);

}  // namespace scheduling
