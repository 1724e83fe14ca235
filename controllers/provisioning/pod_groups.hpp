// Keeps machines from being launched for a part of a PodGroup, whose pods the scheduler starts only together.
#pragma once

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

// Returns "namespace/name" of the pod's PodGroup; empty: it has none. The group is named by
// spec.schedulingGroup, by the label of the scheduler plugin Coscheduling, or by Volcano's annotation.
std::string pod_group_of(const api::Pod& pod);

// Removes PodGroups from the world's pods if not all of their waiting pods can have room. A group with a pod
// that has a node already is left alone: it has started, and each further pod is of use alone. Limits that
// only delay launches do not count, because what they cut follows later. Each removed pod is returned with
// the reason; the pointers are those of the demand.
std::vector<RefusedPod> remove_incomplete_groups(World& world, const PendingPods& demand,
                                                 const Informers& informers, scheduling::Solver& solver);

}  // namespace controllers::provisioning
