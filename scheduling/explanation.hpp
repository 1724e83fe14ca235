// Explains briefly, for each pool, why a pod finds no machine.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "scheduling/pod_placer.hpp"

namespace scheduling {

// Distance ranks obstacles by how far the pool is from taking the pod, the nearest first.
enum class Distance {
    room,          // closed, at a limit, or full: time or a higher limit helps
    size,          // its machines are too small
    surroundings,  // volumes, other pods, host ports
    kind,          // labels, devices, features
    taint,
};

struct LaunchObstacle {
    std::string text;            // "pool small: needs 6 CPUs, largest machine offers 3.9 ..."
    std::size_t budget = kNone;  // the budget that prevented it
    std::string cut;             // remainder of the budget
    Distance distance = Distance::room;
    std::string cause;  // the same for pools that are counted together: "no label disk=ssd"; may be empty
};

// Explains why no machine of the pool can be launched for the pod, with the present budgets and places.
LaunchObstacle explain(const Snapshot& snapshot, PodPlacer& placer, PodClasses& classes, ClassId id,
                       std::size_t pool);
// Returns the texts of the nearest pools first, and counts the others by cause: "7 other pools: taint team
// (7)".
std::vector<std::string> summary_of(std::vector<LaunchObstacle> obstacles);
// Returns "limits.maxNodes of pool small: 0 nodes left".
std::string describe(const Budget& budget, const Take& take);

}  // namespace scheduling
