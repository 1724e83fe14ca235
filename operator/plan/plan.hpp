// Plans what the operator would do now, with the operator's own code, but without doing it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "operator/plan/cluster_snapshot.hpp"
#include "scheduling/solver.hpp"

namespace kubenodesmith {

struct PlannedMachine {
    api::ObjectKey pool;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    std::string zone;
    std::vector<api::ObjectKey> pods;
    std::string reason;       // why it is created, if not for pods
    std::string observed_by;  // control plane that only observes and so prevents it; empty: none
};

// WaitingPod is a pod that the scheduler has not placed yet.
struct WaitingPod {
    enum class Outlook { planned_machine, node, freed_node, coming_node, held_node, nothing };
    api::ObjectKey pod;
    Outlook outlook = Outlook::nothing;
    std::string node;                  // where it fits; for planned_machine the pool's name
    std::vector<std::string> reasons;  // for nothing, held_node and coming_node: why it waits
    std::string observed_by;           // for planned_machine, as in PlannedMachine
};

struct PlannedRemoval {
    std::string node;
    api::ObjectKey claim;
    bool empty = false;                // no pod would have to move
    bool possible = false;             // its pods fit elsewhere and no rule keeps it
    std::vector<std::string> reasons;  // why it is kept
    std::string observed_by;           // as in PlannedMachine
    std::string lost;                  // describes volumes whose data would be lost; empty: none
};

// ClosedPool is a pool that may not launch machines now.
struct ClosedPool {
    api::ObjectKey pool;
    std::string message;
};

struct Plan {
    controllers::ManagedNamespaces managed;  // namespaces whose objects count
    std::vector<PlannedMachine> planned_machines;
    std::vector<WaitingPod> pods;
    std::vector<PlannedRemoval> nodes;
    std::vector<ClosedPool> closed_pools;
    std::vector<std::string> notes;  // on objects that are left out or counted differently
    std::vector<std::string> cuts;   // limits that reduce launches below the demand
    scheduling::Price price;         // of the planned machines; 0: nothing is launched

    // Reports whether a machine would be launched or an empty node removed.
    bool changes_something() const;
};

Plan make_plan(ClusterSnapshot& view);
// Removes everything that does not concern the namespace. A machine of a pool elsewhere is kept if it is for
// a pod of this namespace.
void keep_only(Plan& plan, const std::string& namespace_);

}  // namespace kubenodesmith
