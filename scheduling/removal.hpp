// Decides whether nodes can be removed, because their pods fit elsewhere. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scheduling/solver.hpp"

namespace scheduling {

// Removal says whether nodes can be removed.
struct Removal {
    bool possible = false;
    std::vector<std::string> reasons;    // if not: "pod default/web-1 fits no other node: ..."
    std::vector<PodPlacement> moves;     // new places of their pods
    std::vector<NewClaim> replacements;  // claims to launch, including those needed anyway
    Price price;                         // their additional price beyond what had to be launched anyway
};

struct RemovalRequest {
    std::vector<std::size_t> nodes;     // indices into Snapshot::nodes
    std::size_t most_replacements = 0;  // machines that may be launched instead
    bool may_wait = false;              // their pods may be placed on nodes that are being created
    // Places the pods on nodes that are kept empty, then where most is free, as the kube-scheduler does
    // by default. It tries them largest first and smallest first, because their order of return is
    // unknown. So a possible removal needs no luck. Replacement machines are the cheapest set that is
    // found, and then count as nodes.
    bool emptiest_first = false;
    // This percentage of CPU and memory of the pools' remaining nodes must be free afterwards.
    std::int64_t headroom_percent = 0;
    // Their pods must run elsewhere before the nodes are gone. Until then the kube-scheduler spreads over
    // these nodes too, although they take no pods (nodeTaintsPolicy: Ignore, the default).
    bool before_they_are_gone = false;
};

// Removes the nodes from the snapshot and places their pods on ready nodes and at most that many new
// machines. Nodes being created count only if requested. The removal fails if one of their pods finds no
// place after all waiting pods have theirs. It fails too if a waiting pod, min_nodes or spare room needs one
// of the nodes. Pods that wait for a launch do not count. It ignores limits of evictions
// (PodDisruptionBudgets, annotations).
Removal simulate_removal(const Snapshot& snapshot, const RemovalRequest& request);

// Removals judges many removals from one snapshot, each as simulate_removal() would. It computes once what
// holds without any of them. Only one thread may use it at a time.
class Removals {
public:
    // The solver must outlive this object and must not be used otherwise meanwhile.
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
