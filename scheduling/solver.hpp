// Decides where pods run and what must be launched for them, as the kube-scheduler would decide it
// afterwards. Pure: no I/O, no clock, no globals; the same snapshot gives the same result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace scheduling {

// PodPlacement holds the place of a pod. Pods are pointers into the snapshot, which must outlive the result.
struct PodPlacement {
    const api::Pod* pod = nullptr;
    std::optional<std::size_t> node;   // index into Snapshot::nodes; otherwise claim is set
    std::optional<std::size_t> claim;  // index into SolveResult::claims
};

// NewClaim is a machine to launch: the smallest of the pool's shapes that holds its pods.
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
    bool is_full = false;               // further pods would hardly change it, see fullness.hpp
};

struct Unplaced {
    const api::Pod* pod = nullptr;
    // Lists the reasons of the pools that come nearest to taking the pod: "pool small: needs 6 CPUs, largest
    // machine offers 3.9 after system reserve". If there are many pools, the last one counts the others.
    // Without pools, or if no machine could help, it has one reason for the pod itself.
    std::vector<std::string> reasons;
};

// Cut names a budget that made the launch smaller than the demand.
struct Cut {
    std::size_t budget = 0;  // index into Snapshot::budgets
    std::string message;     // "limits.maxNodes of pool small: 0 nodes left"
    bool operator==(const Cut&) const = default;
};

// Price compares machines by the prices of their pools.
struct Price {
    double machines = 0;     // price of the launched machines
    double least = 0;        // lower bound for the same pods, even with fractional machines
    double simple = 0;       // price if each pod, the largest first, were placed where it fits
    bool is_stated = false;  // at least one pool states prices; otherwise the unit is a GiB of memory
    bool operator==(const Price&) const = default;
};

// OversizedDaemon is a DaemonSet whose pod would run on machines of some pools but
// fits none of them. It does not count.
struct OversizedDaemon {
    std::string namespace_;
    std::string name;
    std::vector<std::size_t> pools;  // indices into Snapshot::pools
};

struct SolveResult {
    std::vector<PodPlacement> placements;  // in order; each is valid after its predecessors
    std::size_t placed_now = 0;  // number of first placements that need no machine being created or launched
    std::vector<NewClaim> claims;
    std::vector<Unplaced> unplaced;  // in the order in which the pods were tried
    std::vector<Cut> cuts;           // in the order of Snapshot::budgets
    bool is_last_resort = false;     // a spread disregards domains that only a new machine would add
    std::size_t demand_unmet = 0;    // machines missing for minimal nodes and spare room
    Price price;                     // price of the claims
    std::vector<OversizedDaemon> oversized_daemons;
};

// Solves a snapshot. The demand is Snapshot::pods and the pods of leaving nodes that return elsewhere; more
// important pods first, then larger ones. It launches as much as budgets and places allow.
SolveResult solve(const Snapshot& snapshot);

class NodeDigests;
class Removals;
struct Removal;
struct RemovalRequest;

// Solver solves successive snapshots of the same cluster. It caches what it read from nodes, which only makes
// the next solve faster. A node whose list of pods holds the same pointers is not read again. It keeps the
// snapshot's pods alive. Only one thread may use it at a time.
class Solver {
public:
    Solver();
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;
    ~Solver();

    // Does the same as solve() above.
    SolveResult solve(const Snapshot& snapshot);
    // Does the same as simulate_removal() of removal.hpp.
    Removal simulate_removal(const Snapshot& snapshot, const RemovalRequest& request);

private:
    friend class Removals;
    std::unique_ptr<NodeDigests> digests_;
};

}  // namespace scheduling
