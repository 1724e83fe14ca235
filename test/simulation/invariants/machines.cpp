// Invariants 1 and 5, and what follows from them for finalizers: which machines may exist, and whose are
// touched.
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class OneMachinePerClaim final : public Invariant {
public:
    using Invariant::Invariant;

    void after_change() override {
        std::map<std::string, int> machine_of;
        const auto& machines = world_.proxmox.cluster().world.machines;
        std::erase_if(late_, [&machines](int vmid) { return !machines.contains(vmid); });
        for (auto vmid : world_.administrators.marked()) {
            const auto& mark = mark_of(vmid);
            if (late_.contains(vmid)) continue;
            auto [other, first] = machine_of.emplace(mark.claim_uid, vmid);
            if (first || comes_late(vmid, other->second)) continue;
            stage_.violate("one machine per claim", "machines " + std::to_string(other->second) + " and " +
                                                        std::to_string(vmid) + " are both of claim " +
                                                        mark.claim_uid);
        }
    }

    // Long after all trouble, nothing is left that nobody owns.
    Findings at_rest() const override {
        Findings findings;
        for (auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            const auto& mark = world_.administrators.mark_of(machine);
            if (world_.view.claim_by_uid(mark->claim_uid) || world_.view.node_of_machine(uuid_of(machine)))
                continue;
            findings.push_back({"no orphans", "machine " + std::to_string(vmid) + " of claim " +
                                                  mark->claim_uid + " has neither claim nor Node"});
        }
        return findings;
    }

private:
    const Mark& mark_of(int vmid) const {
        return *world_.administrators.mark_of(world_.proxmox.cluster().world.machines.at(vmid));
    }

    // What a process asked for before it was killed may be made after its successor saw that there is no such
    // machine, and began another attempt. The collector of orphans removes it.
    bool comes_late(int one, int other) {
        const auto difference = mark_of(one).attempt - mark_of(other).attempt;
        if (!world_.faults.recent_kill() || difference == 0) return false;
        late_.insert(difference < 0 ? one : other);
        return true;
    }

    std::set<int> late_;
};

class OthersMachinesUntouched final : public Invariant {
public:
    explicit OthersMachinesUntouched(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const proxmox::RequestRecord& record) { check(record); });
    }

private:
    void check(const proxmox::RequestRecord& record) {
        if (record.method == "GET" || record.status != 200) return;
        const auto vmid = vmid_of(record);
        if (!vmid) return;
        auto found = world_.administrators.untouchable().find(*vmid);
        if (found == world_.administrators.untouchable().end()) return;
        bool always_foreign = found->second == base::TimePoint{};
        if (!always_foreign && world_.now() < found->second + kInFlight) return;
        stage_.violate("machines of others are untouched", record.method + " " + record.path +
                                                               " on machine " + std::to_string(*vmid) +
                                                               ", which is not provably the operator's");
    }
};

class FinalizersGuardMachines final : public Invariant {
public:
    explicit FinalizersGuardMachines(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!after) check(*before);
            });
    }

private:
    void check(const NodeSmithClaim& claim) {
        if (stage_.deeds.claims_without_finalizer.contains(claim.metadata.uid)) return;
        if (claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain) return;
        for (auto vmid : world_.administrators.marked()) {
            const auto& mark =
                world_.administrators.mark_of(world_.proxmox.cluster().world.machines.at(vmid));
            if (mark->claim_uid != claim.metadata.uid) continue;
            stage_.violate(
                "no claim goes before its machine",
                "claim " + claim.metadata.name + " is gone, its machine " + std::to_string(vmid) + " is not");
        }
    }
};

}  // namespace

std::unique_ptr<Invariant> one_machine_per_claim(const Stage& stage) {
    return std::make_unique<OneMachinePerClaim>(stage);
}
std::unique_ptr<Invariant> others_machines_untouched(const Stage& stage) {
    return std::make_unique<OthersMachinesUntouched>(stage);
}
std::unique_ptr<Invariant> finalizers_guard_machines(const Stage& stage) {
    return std::make_unique<FinalizersGuardMachines>(stage);
}

}  // namespace simulation
