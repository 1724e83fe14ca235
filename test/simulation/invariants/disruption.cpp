// Invariants 3 and 4: no machine goes while pods run on its Node that were not asked to leave, and no budget
// is violated by the operator.
#include <algorithm>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

// Its Node was not Ready for so long that nobody is asked any more.
bool is_repaired(const NodeSmithClaim& claim) {
    const auto* condition = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
    return condition && condition->status == api::ConditionStatus::True &&
           condition->reason == api::reasons::kUnhealthy;
}

class BusyNodesLive final : public Invariant {
public:
    explicit BusyNodesLive(const Stage& stage) : Invariant(stage) {
        world_.guests.subscribe([this](PowerEvent event, const proxmox::MachineView& machine) {
            if (event == PowerEvent::stopped) check(machine);
        });
    }

private:
    void check(const proxmox::MachineView& machine) {
        if (!world_.proxmox.cluster().host(machine.node).powered_on) return;
        if (world_.administrators.meddled_with(machine.uuid)) return;
        const auto* node = world_.view.node_of_machine(machine.uuid);
        if (!node || !is_ready(*node) || was_forced(machine)) return;
        for (const auto* pod : world_.view.pods_on(node->metadata.name)) {
            if (belongs_to_node(*pod) || has_ended(*pod)) continue;
            stage_.violate("busy nodes live",
                           "machine " + std::to_string(machine.vmid) + " is stopped while pod " +
                               api::key_of(*pod).str() + " runs on its Node " + node->metadata.name +
                               (pod->metadata.deletionTimestamp ? " (it was ending)" : ""));
        }
    }

    // The pool's user wishes that the drain ends at a deadline, whatever runs.
    bool was_forced(const proxmox::MachineView& machine) const {
        auto found = world_.proxmox.cluster().world.machines.find(machine.vmid);
        if (found == world_.proxmox.cluster().world.machines.end()) return false;
        const auto& mark = world_.administrators.mark_of(found->second);
        const auto* claim = mark ? world_.view.claim_by_uid(mark->claim_uid) : nullptr;
        if (!claim) return false;
        if (is_repaired(*claim)) return true;
        const auto* pool = world_.view.find<NodeSmithPool>({claim->metadata.namespace_, claim->spec.poolRef});
        return pool && pool->spec.scaleDown.drainTimeoutAction == api::v1alpha1::DrainTimeoutAction::Force;
    }
};

class BudgetsHold final : public Invariant {
public:
    explicit BudgetsHold(const Stage& stage) : Invariant(stage) {
        world_.observe(
            [this](const Process& process, const base::HttpRequest& request,
                   const base::HttpResponse& response) { check_request(process, request, response); });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                bool begins = after && is_disrupted(*after) && !(before && is_disrupted(*before));
                if (begins) check_pool(*after);
            });
    }

private:
    static bool is_disrupted(const NodeSmithClaim& claim) {
        return api::is_true(claim.status.conditions, api::conditions::kDisrupted);
    }
    static std::string reason_of(const NodeSmithClaim& claim) {
        const auto* condition = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
        return condition ? condition->reason : "";
    }
    // Decided by the operator, not forced upon it.
    static bool is_voluntary(const NodeSmithClaim& claim) {
        auto reason = reason_of(claim);
        return reason == api::reasons::kEmpty || reason == api::reasons::kUnderutilized ||
               reason == api::reasons::kDrifted || reason == api::reasons::kExpired ||
               reason == api::reasons::kEvacuation;
    }

    // Pods are evicted, never deleted: only the eviction API knows budgets.
    void check_request(const Process& process, const base::HttpRequest& request,
                       const base::HttpResponse& response) {
        if (request.method != "DELETE" || response.status != 200) return;
        auto at = request.target.find("/pods/");
        if (at == std::string::npos || any_pool_forces() || any_node_is_repaired()) return;
        stage_.violate("budgets hold",
                       process.name() + " deleted a pod without asking its budgets: " + request.target);
    }

    bool any_node_is_repaired() const {
        return std::ranges::any_of(world_.view.all<NodeSmithClaim>(),
                                   [](const auto& entry) { return is_repaired(*entry.second); });
    }

    bool any_pool_forces() const {
        return std::ranges::any_of(world_.view.all<NodeSmithPool>(), [](const auto& entry) {
            return entry.second->spec.scaleDown.drainTimeoutAction ==
                   api::v1alpha1::DrainTimeoutAction::Force;
        });
    }

    void check_pool(const NodeSmithClaim& claim) {
        if (!is_voluntary(claim)) return;
        const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        if (!pool || pool->spec.scaleDown.maxConcurrent == 0) return;
        auto leaving = std::ranges::count_if(world_.view.all<NodeSmithClaim>(), [&claim](const auto& entry) {
            const auto& other = *entry.second;
            return other.spec.poolRef == claim.spec.poolRef && is_disrupted(other) && is_voluntary(other);
        });
        if (leaving <= pool->spec.scaleDown.maxConcurrent) return;
        stage_.violate("budgets hold", "pool " + pool->metadata.name + " lets " + std::to_string(leaving) +
                                           " nodes leave at once, scaleDown.maxConcurrent is " +
                                           std::to_string(pool->spec.scaleDown.maxConcurrent));
    }
};

}  // namespace

std::unique_ptr<Invariant> busy_nodes_live(const Stage& stage) {
    return std::make_unique<BusyNodesLive>(stage);
}
std::unique_ptr<Invariant> budgets_hold(const Stage& stage) {
    return std::make_unique<BudgetsHold>(stage);
}

}  // namespace simulation
