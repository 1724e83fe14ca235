// Runs one solve from beginning to end.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/demand.hpp"
#include "scheduling/machine_planner.hpp"
#include "scheduling/nodes/daemons.hpp"
#include "scheduling/pod_placer.hpp"
#include "scheduling/solver.hpp"
#include "scheduling/spare.hpp"

namespace scheduling {

// Selects the pods that machines are launched for. Other pods are placed on nodes only.
enum class LaunchFor { everybody, displaced_pods };
// Says whether displaced pods may wait for a node that is being created.
enum class Patience { none, for_coming_nodes };

// PlacementOrder defines the order in which nodes and displaced pods are tried.
struct PlacementOrder {
    NodeOrder nodes = NodeOrder::first_fit;
    bool displaced_in_reverse = false;  // applies to those that come last, see Demand
};

class Solve {
public:
    // expected: the template rows of machines that will probably be launched; nullopt: unknown,
    // see Topology::protect_placed().
    Solve(const Snapshot& snapshot, NodeDigests& digests, LaunchFor launch_for,
          Patience patience = Patience::for_coming_nodes,
          std::optional<std::vector<std::size_t>> expected = std::vector<std::size_t>(),
          PlacementOrder order = {});

    // Must be called before run().
    void follow(const MachinePlan& plan) { placer_.follow(plan); }
    void launch_at_most(std::size_t machines) { placer_.launch_at_most(machines); }
    SolveResult run();

    // Returns a planner for the result of run(): see MachinePlanner.
    MachinePlanner planner() { return {snapshot_, placer_, demand_}; }

    // Returns, after run(), template rows of the new machines whose DaemonSet pods count in domains of
    // other placed pods; empty if none do.
    std::vector<std::size_t> rows_with_shared_daemons() const;

    // Use sums up all ready nodes of a pool and the machines launched for it, after run().
    struct Use {
        Amounts allocatable;
        Amounts free;
    };
    Use use_of(std::size_t pool) const;

private:
    void place_all();
    template <class Place>
    void place_until_stuck(std::vector<const Demand*>& waiting, const Place& place);
    // Returns false for kNone.
    bool note(const Demand& demand, std::size_t slot);
    void refuse(const Demand& demand);
    // Returns why no pool creates a machine for a pod of the class, after all others are placed.
    const std::vector<std::string>& reasons_of(ClassId pod_class);
    void describe_claims(const SpareResult& spare);
    std::string zone_of(const NewMachine& new_machine) const;
    void name_only_places();

    const Snapshot& snapshot_;
    LaunchFor launch_for_;
    std::optional<std::vector<std::size_t>> expected_;
    PodClasses classes_;
    Rows rows_;
    Daemons daemons_;
    std::vector<Demand> demand_;
    PodPlacer placer_;
    std::vector<std::size_t> pods_on_;         // by slot, without pods of DaemonSets
    std::map<std::size_t, std::string> cuts_;  // by budget
    std::map<ClassId, std::vector<std::string>> reasons_;
    SolveResult result_;
};

}  // namespace scheduling
