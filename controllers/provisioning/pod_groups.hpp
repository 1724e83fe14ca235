// Keeps machines from being launched for a part of a PodGroup, whose pods the scheduler starts only together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/provisioning/pending_pods.hpp"
#include "controllers/provisioning/world.hpp"
#include "scheduling/solver.hpp"

namespace controllers::provisioning {

// RefusedPod is a waiting pod that gets nothing now.
struct RefusedPod {
    const api::Pod* pod = nullptr;
    std::vector<std::string> reasons;  // for people
};

// Returns how many of its waiting pods each PodGroup needs to start, by the group. Groups that have started,
// or that start with one pod, are left out.
std::map<std::string, std::int64_t> needed_together(const PendingPods& demand, const Informers& informers);

// Removes PodGroups from the world's pods if too few of their waiting pods can have room: fewer than the
// group's minimum or, if that is unknown, not all. A group that has started is left alone, because each
// further pod is of use alone. It has started with its minimum of pods on nodes or, if that is unknown, with
// one. Limits that only delay launches do not count, because what they cut follows later. Each removed pod is
// returned with the reason; the pointers are those of the demand.
std::vector<RefusedPod> remove_incomplete_groups(World& world, const PendingPods& demand,
                                                 const Informers& informers, scheduling::Solver& solver);

}  // namespace controllers::provisioning
