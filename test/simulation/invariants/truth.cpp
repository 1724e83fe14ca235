// Everything that a claim reports has happened. A machine that is Launched runs, and a Node that is
// Registered is that machine's. A claim's failure contains the cause if Proxmox reported it. The operator
// deletes a Node only when its machine is gone.
#include "test/simulation/forgers.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class StatusTellsTheTruth final : public Invariant {
public:
    explicit StatusTellsTheTruth(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                // A restored etcd repeats what was true a minute ago.
                if (!after || is_forged(*after) || !world_.network.acting()) return;
                if (becomes(before, *after, api::conditions::kLaunched)) check_launched(*after);
                if (becomes(before, *after, api::conditions::kRegistered)) check_registered(*after);
                if (becomes(before, *after, api::conditions::kMachineDeleted)) check_deleted(*after);
                if (!before || before->status.lastFailure != after->status.lastFailure) check_failure(*after);
            });
        world_.view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
            if (!after && world_.network.acting()) check_node_deletion(*before);
        });
    }

private:
    static bool becomes(const NodeSmithClaim* before, const NodeSmithClaim& after, std::string_view type) {
        return api::is_true(after.status.conditions, type) &&
               !(before && api::is_true(before->status.conditions, type));
    }

    // Returns the machine of the claim's present attempt. A killed process may have requested a machine of an
    // earlier attempt, which comes late and is an orphan.
    const proxmox::Machine* machine_of(const NodeSmithClaim& claim) const {
        for (auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            const bool is_of_claim = world_.administrators.mark_of(machine)->claim_uid == claim.metadata.uid;
            if (is_of_claim && uuid_of(machine) == claim.status.systemUUID) return &machine;
        }
        return nullptr;
    }
    // Administrators and dying hosts may immediately undo what had happened.
    bool excused(const NodeSmithClaim& claim) const {
        return world_.administrators.meddled_with(claim.status.systemUUID) ||
               world_.bmcs.meddled_with(claim.status.systemUUID) || world_.faults.recent(Fault::host_died) ||
               world_.faults.recent(Fault::power_cut) || world_.faults.recent(Fault::mark_edited);
    }

    void check_launched(const NodeSmithClaim& claim) const {
        if (world_.bmcs.has(claim.status.host)) return check_host_on(claim);
        const auto* machine = machine_of(claim);
        if ((machine && machine->running) || excused(claim)) return;
        stage_.violate("status tells the truth", "claim " + claim.metadata.name +
                                                     " is Launched, but its machine " +
                                                     (machine ? "does not run" : "does not exist"));
    }

    void check_host_on(const NodeSmithClaim& claim) const {
        auto& bmc = world_.bmcs.bmc(claim.status.host);
        if (bmc.power() == Power::on || bmc.profile().falls_back || excused(claim)) return;
        if (world_.bmcs.was_just_cut_by_others(claim.status.host)) return;
        stage_.violate("status tells the truth", "claim " + claim.metadata.name +
                                                     " is Launched, but its host " + claim.status.host +
                                                     " is not on");
    }

    void check_registered(const NodeSmithClaim& claim) const {
        const auto* machine = machine_of(claim);
        const auto* node = world_.view.find<api::Node>({"", claim.status.nodeName});
        if (!machine || !node || excused(claim)) return;
        if (node->status.nodeInfo.systemUUID == uuid_of(*machine)) return;
        stage_.violate("status tells the truth", "claim " + claim.metadata.name + " is Registered as Node " +
                                                     claim.status.nodeName +
                                                     ", which runs on another machine");
    }

    void check_deleted(const NodeSmithClaim& claim) const {
        if (claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain) return;
        if (!machine_of(claim) || world_.faults.recent_kill()) return;
        stage_.violate("status tells the truth",
                       "claim " + claim.metadata.name + " says that its machine is deleted, but it exists");
    }

    // Skips worlds in which the log cannot always be read.
    void check_failure(const NodeSmithClaim& claim) const {
        const auto& failure = claim.status.lastFailure;
        const bool hides_it = failure && failure->message.find("exit code 1") != std::string::npos &&
                              failure->message.find(kInjectedCause) == std::string::npos &&
                              failure->message.find("injected") != std::string::npos;
        if (!hides_it) return;
        for (const auto fault : {Fault::provider_refused, Fault::provider_answer_lost, Fault::provider_slow,
                                 Fault::host_died, Fault::power_cut, Fault::killed_at_request, Fault::killed})
            if (world_.faults.has(fault)) return;
        stage_.violate("failures have causes", "claim " + claim.metadata.name + ": " + failure->message);
    }

    void check_node_deletion(const api::Node& node) const {
        for (const auto& name : world_.bmcs.names()) {
            const auto& uuid = world_.bmcs.uuid(name);
            const bool runs = world_.bmcs.bmc(name).power() == Power::on && !world_.bmcs.is_foreign(name);
            if (!runs || uuid != node.status.nodeInfo.systemUUID || world_.bmcs.meddled_with(uuid)) continue;
            stage_.violate("Nodes outlive their machines",
                           "Node " + node.metadata.name + " was deleted while host " + name + " is on");
        }
        for (auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            if (uuid_of(machine) != node.status.nodeInfo.systemUUID || !machine.running) continue;
            stage_.violate("Nodes outlive their machines", "Node " + node.metadata.name +
                                                               " was deleted while its machine " +
                                                               std::to_string(vmid) + " runs");
        }
    }
};

}  // namespace

std::unique_ptr<Invariant> status_tells_the_truth(const Stage& stage) {
    return std::make_unique<StatusTellsTheTruth>(stage);
}

}  // namespace simulation
