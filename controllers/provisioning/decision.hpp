// Decides which pods get machines now, and why the others get nothing. Every rule that causes or prevents
// a launch is in this place. The reconciler carries a decision out; `plan` and `explain` print it. It
// reads the stores and never waits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/freed_room.hpp"
#include "controllers/provisioning/pending_pods.hpp"
#include "controllers/provisioning/pod_groups.hpp"
#include "controllers/provisioning/supply.hpp"
#include "scheduling/solver.hpp"

namespace controllers::provisioning {

// PoolLaunch describes what one pool launches.
struct PoolLaunch {
    std::size_t pool = 0;             // index into World::pools
    std::vector<std::size_t> claims;  // indices into Result::claims
    std::string observed_by;          // name of the control plane that only observes; empty: it is launched
};

// Its pointers to pods point into the world, which moves with it.
struct ProvisioningDecision {
    PendingPods demand;
    World world;
    scheduling::SolveResult result;
    std::vector<PoolLaunch> launches;     // sorted by pool, without pools that launch nothing
    std::vector<RefusedPod> refused;      // pods that the scheduler cannot place
    FreedRoom freed;                      // already counted as room
    std::optional<api::Time> look_again;  // when time alone changes which pods get machines
};

// DecisionInputs holds the inputs of a decision apart from the stores. All must outlive the call.
struct DecisionInputs {
    const Informers& informers;
    const Reservations& reservations;
    claim::TemplateHashes& template_hashes;
    // Counts the machines launched for pods within the last hour, by UID, as far as a process remembers.
    // Launches recorded in the stores count anyway.
    std::map<std::string, int> remembered;
    ClaimPointers under_way = {};  // claims that are being created
    // True: a pool's refused claims are read from its condition, because this process creates none.
    bool reads_refusals = false;
};

ProvisioningDecision decide(const DecisionInputs& inputs, scheduling::Solver& solver, api::Time now);

// Removes launches that pods still to come might change. It keeps full machines of pools without launch
// pauses. These may be launched before the batch is complete.
void keep_what_is_certain(ProvisioningDecision& decision);

// Returns the cluster as removals see it: with the pods that may keep a node, and what may be launched.
World world_for_removals(const DecisionInputs& inputs, api::Time now);

// Returns the machine that a claim of the result represents.
PlannedClaim planned_claim_of(const scheduling::NewClaim& claim, const Informers& informers);

}  // namespace controllers::provisioning
