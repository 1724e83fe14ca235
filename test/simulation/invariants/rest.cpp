// Invariant 6: once trouble has ended, everything comes to an end. Pods have Nodes or an explanation, and
// claims have reached a final state. The run itself checks that nobody writes any longer.
#include <algorithm>
#include <cstdlib>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class AllComesToRest final : public Invariant {
public:
    using Invariant::Invariant;

    void each_second() override {
        for (const auto& crash : stage_.operators.crashes())
            stage_.violate("the operator never fails", crash);
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) check_pod(*pod, findings);
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) check_claim(*claim, findings);
        check_course<NodeSmithClaim>(findings);
        check_course<NodeSmithPool>(findings);
        check_course<NodeSmithHost>(findings);
        check_course<api::v1alpha1::NodeSmithProvider>(findings);
        check_course<api::v1alpha1::NodeSmithControlPlane>(findings);
        return findings;
    }

private:
    // Checks the conditions that generic tools read: Ready, or else either Reconciling or Stalled.
    template <class T>
    void check_course(Findings& findings) const {
        for (const auto& [key, object] : world_.view.all<T>()) {
            if (object->metadata.deletionTimestamp) continue;
            const auto& all = object->status.conditions;
            const auto* ready = api::find_condition(all, api::conditions::kReady);
            const bool goes_on = api::is_true(all, api::conditions::kReconciling);
            const bool is_stalled = api::is_true(all, api::conditions::kStalled);
            const bool is_told = ready && !ready->reason.empty() && !(goes_on && is_stalled) &&
                                 (ready->status == api::ConditionStatus::True || goes_on || is_stalled);
            if (is_told && object->status.observedGeneration == object->metadata.generation) continue;
            findings.push_back({"every object says how far it is",
                                std::string(T::kResource.kind) + " " + key.str() + " does not"});
        }
    }

    void check_pod(const api::Pod& pod, Findings& findings) const {
        if (!is_alive(pod) || !pod.spec.nodeName.empty() || belongs_to_node(pod)) return;
        if (!api::is_false(pod.status.conditions, api::conditions::kPodScheduled)) return;
        bool explained = std::ranges::any_of(world_.view.all<api::Event>(), [&pod](const auto& entry) {
            const auto& event = *entry.second;
            return event.involvedObject.uid == pod.metadata.uid && event.source.component != "scheduler";
        });
        if (explained) return;
        findings.push_back({"every pod gets a Node or a reason",
                            "pod " + api::key_of(pod).str() + " is pending and no Event says why"});
    }

    // Checks that a claim is in a state where it may remain. It is in service, has failed, or says that it
    // waits for a change that only people can make.
    void check_claim(const NodeSmithClaim& claim, Findings& findings) const {
        if (claim.metadata.deletionTimestamp ||
            api::is_true(claim.status.conditions, api::conditions::kDisrupted)) {
            check_leaving(claim, findings);
            return;
        }
        const auto& conditions = claim.status.conditions;
        if (api::is_true(conditions, api::conditions::kReady) ||
            api::is_true(conditions, api::conditions::kFailed))
            return;
        if (waits(claim, api::conditions::kLaunched,
                  {api::reasons::kLimitExceeded, api::reasons::kSecretMissing}) ||
            waits_for_its_mark(claim) || has_only_copies(claim) || has_lost_its_mark(world_, claim) ||
            waits_for_secret(world_, claim)) {
            return;
        }
        // A user may delete a pool that no operator has seen and leave a claim for it behind.
        const bool is_left_behind =
            !api::controller_of(claim.metadata) &&
            !world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        if (is_left_behind && waits(claim, api::conditions::kLaunched, {api::reasons::kPoolMissing})) return;
        // The operator replaces no claim that a person made. If it lost its status and its machine, it meets
        // its own old Node.
        const bool is_a_persons = !api::controller_of(claim.metadata);
        if (is_a_persons && waits(claim, api::conditions::kLaunched, {api::reasons::kNameTaken})) return;
        // A failed attempt's machine that joined late is drained like any other.
        const bool is_drained_first = waits(claim, api::conditions::kDrained,
                                            {api::reasons::kBlockedByBudget, api::reasons::kDrainStalled});
        if (is_drained_first || is_held_by_an_outage(claim) || is_left_to_a_person(claim)) return;
        findings.push_back({"no claim is stuck", describe(claim)});
    }

    // Reports whether a person must decide whose the Node is. The Node is older than the claim and has its
    // host's UUID.
    static bool is_left_to_a_person(const NodeSmithClaim& claim) {
        const bool is_bare_metal = std::atoi(claim.status.machineID.c_str()) == 0;
        return is_bare_metal && api::is_true(claim.status.conditions, api::conditions::kStalled) &&
               waits(claim, api::conditions::kDrained, {api::reasons::kNodeIdentityMismatch});
    }

    struct Health {
        std::int64_t in_service = 0, unfit = 0;
        // Reports whether more nodes are unfit than the percentage allows. The limit is rounded up: 20 % of
        // three nodes is one.
        bool exceeds(std::int64_t percent) const { return unfit > (in_service * percent + 99) / 100; }
    };
    // Returns the health of a pool, or of all pools if `pool` is empty. A claim that is being removed or has
    // failed counts only for its pool.
    Health health_of(const std::string& pool) const {
        Health health;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const auto& conditions = claim->status.conditions;
            if (!pool.empty() && claim->spec.poolRef != pool) continue;
            const bool is_staying =
                !claim->metadata.deletionTimestamp && !api::is_true(conditions, api::conditions::kFailed);
            if (pool.empty() && !is_staying) continue;
            if (!api::is_true(conditions, api::conditions::kInitialized)) continue;
            ++health.in_service;
            if (!claim->metadata.deletionTimestamp && !api::is_true(conditions, api::conditions::kReady))
                ++health.unfit;
        }
        return health;
    }

    // Reports whether an outage forbids the repair. No node is repaired if more nodes are not Ready than
    // disruption.repair.maxUnhealthyPercent of the pool or health of the ControlPlane allows. Otherwise a
    // network outage would empty the pool. An Event on the Node says so.
    bool is_held_by_an_outage(const NodeSmithClaim& claim) const {
        const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        const auto& limits = world_.scenario.control_plane.spec.health;
        const auto all = health_of("");
        if (pool && pool->spec.disruption.repair.action == api::v1alpha1::RepairAction::None) return true;
        const bool is_outage =
            (pool &&
             health_of(claim.spec.poolRef).exceeds(pool->spec.disruption.repair.maxUnhealthyPercent)) ||
            (all.unfit > limits.okUnreadyCount &&
             all.unfit * 100 > all.in_service * limits.maxUnreadyPercent);
        if (!is_outage || claim.status.nodeName.empty()) return false;
        return std::ranges::any_of(world_.view.all<api::Event>(), [&claim](const auto& entry) {
            const auto& event = *entry.second;
            return event.involvedObject.name == claim.status.nodeName &&
                   event.message.starts_with("Unhealthy, but the node stays");
        });
    }

    void check_leaving(const NodeSmithClaim& claim, Findings& findings) const {
        // Budgets, annotations and machines that are not provably ours may block the removal for ever.
        if (!api::is_true(claim.status.conditions, api::conditions::kDrained)) {
            const auto* drained = api::find_condition(claim.status.conditions, api::conditions::kDrained);
            if (drained && drained->reason != "") return;
        }
        if (waits_for_its_mark(claim) || has_only_copies(claim) || waits_for_secret(world_, claim) ||
            has_lost_its_mark(world_, claim)) {
            return;
        }
        findings.push_back({"no claim is stuck", describe(claim)});
    }

    // Reports whether somebody changed the mark of the claim's machine, or whether the operator may not see
    // the VM with that ID. Writes of the operator itself, also failed ones, are no excuse.
    bool waits_for_its_mark(const NodeSmithClaim& claim) const {
        if (waits(claim, api::conditions::kMachineDeleted, {api::reasons::kMarkMismatch})) return true;
        const auto vmid = std::atoi(claim.status.machineID.c_str());
        const bool is_bare_metal = vmid == 0;
        return waits(claim, api::conditions::kMachineDeleted, {"OwnershipMismatch", "MissingPrivileges"}) &&
               (is_bare_metal || world_.administrators.untouchable().contains(vmid));
    }

    // Reports whether the claim's status is lost and its mark is on a copy of its machine that somebody made.
    // A person has to solve that.
    bool has_only_copies(const NodeSmithClaim& claim) const {
        if (!waits(claim, api::conditions::kLaunched, {"MarkOfOtherMachine", "SeveralMachines"}))
            return false;
        const auto& machines = world_.proxmox.cluster().world.machines;
        return std::ranges::any_of(world_.administrators.untouchable(), [&](const auto& entry) {
            const auto machine = machines.find(entry.first);
            if (machine == machines.end()) return false;
            const auto mark = world_.administrators.mark_of(machine->second);
            return mark && mark->claim_uid == claim.metadata.uid;
        });
    }

    static bool waits(const NodeSmithClaim& claim, std::string_view type,
                      std::initializer_list<std::string_view> reasons) {
        const auto* condition = api::find_condition(claim.status.conditions, type);
        return condition && std::ranges::find(reasons, condition->reason) != reasons.end();
    }

    static std::string describe(const NodeSmithClaim& claim) {
        std::string text =
            "claim " + claim.metadata.name + (claim.metadata.deletionTimestamp ? " (being deleted):" : ":");
        for (const auto& condition : claim.status.conditions) {
            text += " " + condition.type + "=" + std::string(api::to_string(condition.status)) + "/" +
                    condition.reason + " (" + condition.message + ")";
        }
        return text;
    }
};

}  // namespace

std::unique_ptr<Invariant> all_comes_to_rest(const Stage& stage) {
    return std::make_unique<AllComesToRest>(stage);
}

}  // namespace simulation
