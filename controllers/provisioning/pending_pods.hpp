// Which waiting pods machines are launched for. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/membership.hpp"
#include "controllers/provisioning/demand_rules.hpp"
#include "controllers/provisioning/world.hpp"
#include "controllers/state/pool_counts.hpp"

namespace controllers::provisioning {

struct HeldBack {
    PodPointer pod;
    std::string message;             // why nothing is launched for it
    std::optional<api::Time> until;  // nullopt: as long as things are as they are
};

struct PendingPods {
    PodPointers pods;  // to be placed
    std::vector<HeldBack> held_back;
    PodPointers nominated;          // for which the scheduler makes room by preemption
    std::set<std::string> waiting;  // UIDs of all pods that the scheduler cannot place
};

// `unschedulable` are the pods that the scheduler cannot place. Left out in silence: pods of DaemonSets,
// which belong to Nodes that exist.
// `launches` is how many machines were launched for each within the last hour, by UID.
PendingPods select_demand(const PodPointers& unschedulable, const std::map<std::string, int>& launches,
                          const Pools& pools, const Nodes& nodes, api::Time now,
                          const DemandRules& rules = {});

// Returns pods of DaemonSets that the scheduler found no room for on their node.
PodPointers waiting_daemon_pods(const Informers& informers);

// Pods that may keep an empty node: without those about which a prediction was wrong before, which would keep
// for ever a node that the scheduler does not give them, and without expendable ones.
PodPointers pods_that_keep_nodes(const PodPointers& unschedulable, const Pools& pools, const Nodes& nodes,
                                 const DemandRules& rules = {});

}  // namespace controllers::provisioning
