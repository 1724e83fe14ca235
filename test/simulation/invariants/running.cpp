// A machine that runs is never taken for one that is off or gone. The lists of a Proxmox cluster may show old
// figures or none, if the pvestatd of a host hangs. The operator must ask the host itself.
#include <cstdlib>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class RunningMachinesAreSeen final : public Invariant {
public:
    explicit RunningMachinesAreSeen(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                // A restored etcd repeats what was true a minute ago.
                if (!before || !after || !world_.network.acting()) return;
                const auto mistake = mistake_of(*after);
                if (!mistake.empty() && mistake != mistake_of(*before) && has_run_for_long(*after))
                    stage_.violate("running machines are not taken for stopped",
                                   "claim " + after->metadata.name + " says: " + mistake + ", but its VM " +
                                       after->status.machineID + " has been running for minutes");
            });
    }

private:
    // Returns what the claim says of a machine that is off or gone; empty: nothing.
    static std::string mistake_of(const NodeSmithClaim& claim) {
        const auto& all = claim.status.conditions;
        const auto* deleted = api::find_condition(all, api::conditions::kMachineDeleted);
        if (deleted && deleted->reason == api::reasons::kMachineVanished) return deleted->reason;
        const auto* disrupted = api::find_condition(all, api::conditions::kDisrupted);
        const bool is_off = disrupted && disrupted->status == api::ConditionStatus::True &&
                            disrupted->reason == api::reasons::kUnhealthy &&
                            disrupted->message.find("switched off") != std::string::npos;
        if (is_off) return disrupted->message;
        return api::is_true(all, api::conditions::kPoweredOff) ? std::string(api::conditions::kPoweredOff)
                                                               : std::string();
    }

    // Every host but one that is cut off can tell that the machine runs.
    bool has_run_for_long(const NodeSmithClaim& claim) const {
        const auto& cluster = world_.proxmox.cluster();
        const auto found = cluster.world.machines.find(std::atoi(claim.status.machineID.c_str()));
        if (found == cluster.world.machines.end() || world_.host_apis.leads_elsewhere()) return false;
        const auto& machine = found->second;
        const bool is_known = uuid_of(machine) == claim.status.systemUUID &&
                              !world_.administrators.untouchable().contains(machine.vmid) &&
                              !cluster.is_isolated(machine.node);
        return is_known && machine.running && machine.running->since + kInFlight < world_.now();
    }
};

}  // namespace

std::unique_ptr<Invariant> running_machines_are_seen(const Stage& stage) {
    return std::make_unique<RunningMachinesAreSeen>(stage);
}

}  // namespace simulation
