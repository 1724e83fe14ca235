// Determines which pods must be placed, and in which order.
#pragma once
#include <cstdint>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/pods/pod_class.hpp"

namespace scheduling {

struct Demand {
    const api::Pod* pod = nullptr;
    ClassId pod_class = 0;
    bool is_displaced = false;  // it runs on a leaving node
    bool can_wait = true;       // for a node that is still being created
    bool comes_last = false;    // it starts to wait only after all the others were tried
    // These members define the order: more important pods first, then those that need a separate machine.
    // Others fill such a machine up afterwards. Larger and older pods follow. Last is a number made from the
    // UID, so that the snapshot's order does not matter.
    std::int32_t priority = 0;
    std::int32_t apartness = 0;
    double size = 0;  // its largest share of the largest machine or node
    std::int64_t created = 0;
    std::uint64_t tie = 0;
};

// Returns the demand in order. `largest` is the measure of sizes. `displaced_last`: the leaving nodes are not
// given up yet. So waiting pods get free room before the successors of their pods.
std::vector<Demand> ordered_demand(const Snapshot& snapshot, PodClasses& classes, const Amounts& largest,
                                   bool displaced_last);

}  // namespace scheduling
