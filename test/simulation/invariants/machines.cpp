// Invariants 1 and 5, and their consequences for finalizers: which machines may exist, and whose machines the
// operator may change.
#include <algorithm>
#include <map>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

const Mark& mark_of(World& world, int vmid) {
    return *world.administrators.mark_of(world.proxmox.cluster().world.machines.at(vmid));
}

// LateMachines finds machines that are made late. A killed process may have requested a machine, and its
// successor gives the attempt up before that machine exists. The collector of orphans later removes it.
class LateMachines {
public:
    explicit LateMachines(World& world) : world_(world) {}

    void look() {
        std::map<int, Origin> now;
        for (auto vmid : world_.administrators.marked()) {
            const auto known = known_.find(vmid);
            auto origin = known == known_.end() ? Origin{world_.faults.recent_kill(), false} : known->second;
            origin.is_late = origin.is_late || (origin.after_kill && was_given_up(vmid));
            now.emplace(vmid, origin);
        }
        known_ = std::move(now);
    }
    bool contains(int vmid) const {
        const auto known = known_.find(vmid);
        return known != known_.end() && known->second.is_late;
    }

private:
    struct Origin {
        bool after_kill;
        bool is_late;
    };

    bool was_given_up(int vmid) const {
        const auto& mark = mark_of(world_, vmid);
        const auto* claim = world_.view.claim_by_uid(mark.claim_uid);
        return claim && (claim->status.machineID.empty() || mark.attempt < claim->status.launchAttempts ||
                         api::is_true(claim->status.conditions, api::conditions::kMachineDeleted));
    }

    World& world_;
    std::map<int, Origin> known_;
};

class OneMachinePerClaim final : public Invariant {
public:
    explicit OneMachinePerClaim(const Stage& stage) : Invariant(stage), late_(world_) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!after) check_gone(*before);
            });
    }

    void after_change() override {
        world_.administrators.forget_gone();
        late_.look();
        std::map<std::string, int> machine_of;
        for (auto vmid : world_.administrators.marked()) {
            const auto& mark = mark_of(world_, vmid);
            if (late_.contains(vmid)) continue;
            auto [other, first] = machine_of.emplace(mark.claim_uid, vmid);
            if (first) continue;
            stage_.violate("one machine per claim", "machines " + std::to_string(other->second) + " and " +
                                                        std::to_string(vmid) + " are both of claim " +
                                                        mark.claim_uid);
        }
    }

    // Long after all trouble, every machine must have an owner.
    Findings at_rest() const override {
        Findings findings;
        for (auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            const auto& mark = world_.administrators.mark_of(machine);
            if (world_.view.claim_by_uid(mark->claim_uid) || world_.view.node_of_machine(uuid_of(machine)) ||
                is_named_by_node(vmid) || is_reported(vmid, machine.node))
                continue;
            findings.push_back(
                {"no orphans", "machine " + std::to_string(vmid) + " of claim " + mark->claim_uid +
                                   " has neither claim nor Node (its UUID is " + uuid_of(machine) + ")"});
        }
        // An administrator clears away the locks of a dead task once the operator reports them.
        for (const auto& [vmid, machine] : world_.proxmox.cluster().world.machines) {
            const auto lock = machine.config.find("lock");
            if (lock == machine.config.end()) continue;
            std::string tasks;
            for (const auto& task : world_.proxmox.cluster().tasks.all()) {
                if (task->id != std::to_string(vmid)) continue;
                tasks += " " + task->type + "=" + (task->is_running() ? "running" : task->exit_status);
            }
            const auto* why =
                world_.is_told_of(vmid) ? "which is reported, but its task never ends" : "and nobody says so";
            findings.push_back({"no silent leaks", "machine " + std::to_string(vmid) + " on " + machine.node +
                                                       " is locked (" + lock->second + "), " + why +
                                                       "; its tasks:" + tasks});
        }
        return findings;
    }

private:
    // Reports whether the operator reports the machine. It leaves a machine that cannot be proven ours, such
    // as a clone that was never configured, to people.
    bool is_reported(int vmid, const std::string& host) const {
        const auto name = "(" + std::to_string(vmid) + " on " + host + ")";
        if (world_.was_reported(name)) return true;
        return std::ranges::any_of(world_.view.all<NodeSmithProvider>(), [&](const auto& entry) {
            const auto* orphans =
                api::find_condition(entry.second->status.conditions, api::conditions::kOrphansFound);
            return orphans &&
                   orphans->message.find("it is not proven that they belong to this operator") !=
                       std::string::npos &&
                   orphans->message.find(name) != std::string::npos;
        });
    }

    // Reports whether a Node names the machine although the guest has another UUID.
    bool is_named_by_node(int vmid) const {
        return std::ranges::any_of(world_.view.all<api::Node>(), [&](const auto& entry) {
            return entry.second->spec.providerID.ends_with("/vms/" + std::to_string(vmid));
        });
    }

    void check_gone(const NodeSmithClaim& claim) {
        if (stage_.may_go_first(claim)) return;
        for (auto vmid : world_.administrators.marked()) {
            if (mark_of(world_, vmid).claim_uid != claim.metadata.uid || late_.contains(vmid)) continue;
            stage_.violate(
                "no claim goes before its machine",
                "claim " + claim.metadata.name + " is gone, its machine " + std::to_string(vmid) + " is not");
        }
    }

    LateMachines late_;
};

class OthersMachinesUntouched final : public Invariant {
public:
    explicit OthersMachinesUntouched(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const proxmox::RequestRecord& record) { check(record); });
    }

private:
    void check(const proxmox::RequestRecord& record) {
        if (record.method == "GET" || record.status != 200) return;
        const auto vmid = vmid_of(record.path);
        if (!vmid) return;
        auto found = world_.administrators.untouchable().find(*vmid);
        if (found == world_.administrators.untouchable().end()) return;
        bool always_foreign = found->second == base::TimePoint{};
        // Proxmox refuses a change of the configuration if the VM has changed since it was read. A change
        // that was accepted before is carried out completely.
        const bool is_guarded = record.method == "PUT" && record.path.ends_with("/config");
        const auto allowed = is_guarded ? record.duration : base::Duration(kInFlight);
        if (!always_foreign && world_.now() <= found->second + allowed) return;
        stage_.violate("machines of others are untouched", record.method + " " + record.path +
                                                               " on machine " + std::to_string(*vmid) +
                                                               ", which is not provably the operator's");
    }
};

}  // namespace

std::unique_ptr<Invariant> one_machine_per_claim(const Stage& stage) {
    return std::make_unique<OneMachinePerClaim>(stage);
}
std::unique_ptr<Invariant> others_machines_untouched(const Stage& stage) {
    return std::make_unique<OthersMachinesUntouched>(stage);
}

}  // namespace simulation
