// Decides which waiting pods get machines. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/provisioning/demand_rules.hpp"
#include "controllers/provisioning/world.hpp"

namespace controllers::provisioning {

struct HeldBack {
    PodPointer pod;
    std::string message;             // why nothing is launched for it
    std::optional<api::Time> until;  // nullopt: until something changes
};

struct PendingPods {
    PodPointers pods;  // to be placed
    std::vector<HeldBack> held_back;
    PodPointers nominated;          // pods that the scheduler makes room for by preemption
    std::set<std::string> waiting;  // UIDs of all pods that the scheduler cannot place
};

// `unschedulable` are the pods that the scheduler cannot place. Pods of DaemonSets are left out silently,
// because they belong to existing Nodes.
// `launches` counts the machines launched for each pod within the last hour, by UID.
PendingPods select_demand(const PodPointers& unschedulable, const std::map<std::string, int>& launches,
                          const Pools& pools, const Nodes& nodes, api::Time now,
                          const DemandRules& rules = {});

// Returns pods for which the scheduler makes room by preemption.
PodPointers nominated_pods(PodPointers unschedulable, const Nodes& nodes, const DemandRules& rules);

// Returns pods of DaemonSets that have no room on their node according to the scheduler.
PodPointers waiting_daemon_pods(const Informers& informers);

// Returns pods that may keep an empty node. Pods with a wrong prediction are left out. They would keep
// forever a node that the scheduler does not give them. Expendable pods are left out too.
PodPointers pods_that_keep_nodes(const PodPointers& unschedulable, const Pools& pools, const Nodes& nodes,
                                 const DemandRules& rules = {});

}  // namespace controllers::provisioning
