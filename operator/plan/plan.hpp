// What the operator would do now, decided by its own code, without doing it.
#pragma once

#include <boost/json/object.hpp>
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
    std::string reason;       // if it is not for pods
    std::string observed_by;  // the control plane that only observes, so that it is not made; empty: it is
};

// A pod that waits for the scheduler.
struct WaitingPod {
    enum class Outlook { planned_machine, node, freed_node, coming_node, held_node, nothing };
    api::ObjectKey pod;
    Outlook outlook = Outlook::nothing;
    std::string node;                  // where it fits; the pool's name for launch
    std::vector<std::string> reasons;  // why not; for held_node and coming_node what it waits for
    std::string observed_by;           // for launch, as there
};

struct PlannedRemoval {
    std::string node;
    api::ObjectKey claim;
    bool empty = false;                // no pod that would have to move
    bool possible = false;             // its pods fit elsewhere and nothing needs it
    std::vector<std::string> reasons;  // why it is kept
    std::string lost;                  // volumes whose data goes with it, in words; empty: none
};

// A pool that may not launch now.
struct ClosedPool {
    api::ObjectKey pool;
    std::string message;
};

struct Plan {
    controllers::ManagedNamespaces managed;  // whose objects count
    std::vector<PlannedMachine> planned_machines;
    std::vector<WaitingPod> pods;
    std::vector<PlannedRemoval> nodes;
    std::vector<ClosedPool> closed_pools;
    std::vector<std::string> notes;  // of what is written down and not counted as it is
    std::vector<std::string> cuts;   // limits that make a launch smaller than the demand
    scheduling::Price price;         // of the planned machines; 0: nothing is launched

    // Something would be launched, or an empty node removed.
    bool changes_something() const;
};

Plan make_plan(ClusterSnapshot& view);
// Leaves out what has nothing to do with the namespace: pods of others, and machines and nodes of pools
// elsewhere that no pod of it is planned for.
void keep_only(Plan& plan, const std::string& namespace_);

// One line each, for people.
std::string sentence_of(const PlannedMachine& planned_machine);
std::string sentence_of(const WaitingPod& pod);
std::string sentence_of(const PlannedRemoval& node);
std::string sentence_of(const scheduling::Price& price);
std::string table_of(const Plan& plan);
boost::json::object json_of(const Plan& plan);

}  // namespace kubenodesmith
