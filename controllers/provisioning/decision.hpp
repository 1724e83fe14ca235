// What is launched now, for whom, and why the others get nothing: every rule that makes or stops a launch,
// in one place. The reconciler carries a decision out; `plan` and `explain` tell it. Reads, never waits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/provisioning/freed_room.hpp"
#include "controllers/provisioning/pending_pods.hpp"
#include "controllers/provisioning/supply.hpp"
#include "controllers/state/claim_factory.hpp"
#include "scheduling/solver.hpp"

namespace controllers::provisioning {

// A waiting pod that gets nothing now.
struct RefusedPod {
    const api::Pod* pod = nullptr;
    std::vector<std::string> reasons;  // for people
};

// What one pool launches.
struct PoolLaunch {
    std::size_t pool = 0;             // index into World::pools
    std::vector<std::size_t> claims;  // indices into Result::claims
    std::string observed_by;          // the control plane that only observes; empty: it is launched
};

// Pods are named by pointers into the world, which moves with the decision.
struct Decision {
    PendingPods demand;
    World world;
    scheduling::Result result;
    std::vector<PoolLaunch> launches;     // in the order of the pools, without those that launch nothing
    std::vector<RefusedPod> refused;      // of those that the scheduler cannot place
    FreedRoom freed;                      // counted as room already
    std::optional<api::Time> look_again;  // when time alone changes which pods are launched for
};

// What a decision is made from besides the stores. All must outlive the call.
struct DecisionInputs {
    const Informers& informers;
    const Reservations& reservations;
    claim::TemplateHashes& template_hashes;
    // How many machines were launched for pods within the last hour, by UID, as far as a process remembers
    // it; what the stores tell counts anyway.
    std::map<std::string, int> remembered;
    ClaimPointers under_way = {};  // claims that are being created
    // That claims of a pool are refused is read from its condition, as nobody here asks for any.
    bool reads_refusals = false;
};

Decision decide(const DecisionInputs& inputs, scheduling::Solver& solver, api::Time now);

// Takes out of the orders what pods that are still to come might change: all but machines that are full, of
// pools that launch as they like. What is left may be launched before the batch is complete.
void keep_what_is_certain(Decision& decision);

// The cluster as removals are judged by it: with the pods that may keep a node, and what may be launched.
World world_for_removals(const DecisionInputs& inputs, api::Time now);

// The machine that a claim of the result stands for.
PlannedClaim planned_claim_of(const scheduling::NewClaim& claim, const Informers& informers);

}  // namespace controllers::provisioning
