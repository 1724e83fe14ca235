// Where pods go and what has to be launched for them, as the kube-scheduler would decide it afterwards.
// Pure: no I/O, no clock, no globals; the same snapshot gives the same result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace scheduling {

// Pods are named by pointers into the snapshot, which therefore has to outlive the result.
struct Placement {
    const api::Pod* pod = nullptr;
    std::optional<std::size_t> node;   // index into Snapshot::nodes, or else
    std::optional<std::size_t> claim;  // index into Result::claims
};

// A machine to launch: the smallest of the pool's shapes that holds its pods.
struct NewClaim {
    std::size_t pool = 0;  // index into Snapshot::pools
    std::string shape;     // name of the fixed shape, empty if flexible
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    std::string zone;  // empty: the pods leave it open
    std::size_t place =
        0;  // index into Snapshot::places: where the solve found room; only a hint while zone is empty
    std::vector<const api::Pod*> pods;  // in the order of placement
    std::string reason;                 // if not for pods: "to have at least 2 nodes", "to keep 4 CPUs spare"
    bool is_full = false;  // pods that are not there yet would hardly change it, see fullness.hpp
};

struct Unplaced {
    const api::Pod* pod = nullptr;
    // Why not, one per pool in the order in which they were tried: "pool small: needs 6 CPUs, largest machine
    // offers 3.9 after system reserve". Without pools, or if no machine could help, one for the pod itself.
    std::vector<std::string> reasons;
};

// A budget that made the launch smaller than the demand.
struct Cut {
    std::size_t budget = 0;  // index into Snapshot::budgets
    std::string message;     // "limits.maxNodes of pool small: 0 nodes left"
    bool operator==(const Cut&) const = default;
};

// What machines cost by the prices of their pools.
struct Price {
    double machines = 0;     // those that are launched
    double least = 0;        // none for the same pods cost less, even if machines came in fractions
    double simple = 0;       // what they would have cost if each pod, the largest first, went where it fits
    bool is_stated = false;  // by one of the pools at least; else in what a GiB of memory costs
    bool operator==(const Price&) const = default;
};

// A DaemonSet whose pod no machine of some pools can hold although it would be to run there. It is not
// counted.
struct OversizedDaemon {
    std::string namespace_;
    std::string name;
    std::vector<std::size_t> pools;  // indices into Snapshot::pools
};

struct Result {
    std::vector<Placement> placements;  // in the order in which they were made, each valid after those before
    std::size_t placed_now = 0;         // the first so many need no machine that is coming or launched
    std::vector<NewClaim> claims;
    std::vector<Unplaced> unplaced;  // in the order in which the pods were tried
    std::vector<Cut> cuts;           // in the order of Snapshot::budgets
    std::size_t demand_unmet = 0;  // minimal nodes and spare room that could not be launched: machines short
    Price price;                   // of the claims
    std::vector<OversizedDaemon> oversized_daemons;
};

// Whether nodes can go.
struct Removal {
    bool possible = false;
    std::vector<std::string> reasons;    // if not: "pod default/web-1 fits no other node: ..."
    std::vector<Placement> moves;        // where their pods would go
    std::vector<NewClaim> replacements;  // what has to be launched, with what had to be launched anyway
    Price price;                         // what they cost more than what had to be launched anyway
};

struct RemovalRequest {
    std::vector<std::size_t> nodes;     // indices into Snapshot::nodes
    std::size_t most_replacements = 0;  // machines that may be launched instead
    bool may_wait = false;              // their pods may be placed on nodes that are still coming
    // Their pods are put on nodes that are kept empty, then where most is free, as the kube-scheduler does by
    // default, instead of where they just fit; and not only the largest first, but also the smallest, as
    // nobody knows which is back first. What is possible so needs no luck. Machines launched instead are the
    // cheapest set that is found, and are nodes among the others by then.
    bool emptiest_first = false;
    // So much of what remains of the nodes' pools has to be free afterwards, of CPU as well as of memory.
    std::int64_t headroom_percent = 0;
    // Their pods are to run elsewhere before the nodes are gone. Until then the kube-scheduler spreads over
    // these as well, although they take no pods (nodeTaintsPolicy: Ignore, the default).
    bool before_they_are_gone = false;
};

// Demand is Snapshot::pods and the pods of leaving nodes that come back elsewhere; more important pods
// first, then larger ones. Launches as much as budgets and places allow.
Result solve(const Snapshot& snapshot);

// Takes the nodes out of the snapshot and places their pods on ready nodes (on coming ones only if the
// request says so) and on at most that many new machines. Not possible if a pod of theirs would find no
// place, once all pods that wait have the places that they find, or if a pod that waits, min_nodes or spare
// room needs one of the nodes. Pods that wait for a machine to be launched do not count. Evictions
// (PodDisruptionBudgets, annotations) are not looked at.
Removal simulate_removal(const Snapshot& snapshot, const RemovalRequest& request);

class NodeDigests;

// Solves one snapshot after the other, of the same cluster. Remembers what it read of nodes, which makes the
// next solve quicker and changes nothing else: a node whose list of pods holds the same pointers is not read
// again. Keeps the snapshot's pods alive. To be used by one thread at a time.
class Solver {
public:
    Solver();
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;
    ~Solver();

    // As the functions above.
    Result solve(const Snapshot& snapshot);
    Removal simulate_removal(const Snapshot& snapshot, const RemovalRequest& request);

private:
    friend class Removals;
    std::unique_ptr<NodeDigests> digests_;
};

// Judges many removals from one snapshot, each as simulate_removal() would; what holds without any of them is
// worked out once. To be used by one thread at a time.
class Removals {
public:
    // The solver must outlive this, and do nothing else meanwhile.
    Removals(Solver& solver, const Snapshot& snapshot);
    Removals(const Removals&) = delete;
    Removals& operator=(const Removals&) = delete;
    ~Removals();

    Removal simulate(const RemovalRequest& request);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace scheduling
