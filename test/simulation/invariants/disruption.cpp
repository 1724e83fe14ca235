// Invariant 4: the operator violates no budget.
#include <algorithm>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class BudgetsHold final : public Invariant {
public:
    explicit BudgetsHold(const Stage& stage) : Invariant(stage) {
        world_.observe(
            [this](const Process& process, const base::HttpRequest& request,
                   const base::HttpResponse& response) { check_request(process, request, response); });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (before && is_repaired(*before) && !(after && is_repaired(*after)))
                    repair_ended_ = world_.now();
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
    // Reports whether the operator decided the disruption and was not forced to it.
    static bool is_voluntary(const NodeSmithClaim& claim) {
        auto reason = reason_of(claim);
        return reason == api::reasons::kEmpty || reason == api::reasons::kUnderutilized ||
               reason == api::reasons::kDrifted || reason == api::reasons::kExpired ||
               reason == api::reasons::kEvacuation;
    }

    // Checks that pods are evicted and never deleted, because only the eviction API respects budgets.
    void check_request(const Process& process, const base::HttpRequest& request,
                       const base::HttpResponse& response) {
        if (request.method != "DELETE" || response.status != 200) return;
        auto at = request.target.find("/pods/");
        if (at == std::string::npos || any_pool_forces() || any_node_is_repaired()) return;
        stage_.violate("budgets hold",
                       process.name() + " deleted a pod without asking its budgets: " + request.target);
    }

    // Excuses a drain that was under way when its claim ended.
    bool any_node_is_repaired() const {
        constexpr std::chrono::seconds kUnderWay{5};
        if (repair_ended_ && world_.now() - *repair_ended_ < kUnderWay) return true;
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
            // A drained machine that waits for a person's decision about its volumes stops no other
            // disruption. Neither does a claim whose machine is gone: finalizers of others may keep its Node
            // for long.
            const auto& conditions = other.status.conditions;
            return other.spec.poolRef == claim.spec.poolRef && is_disrupted(other) && is_voluntary(other) &&
                   !api::is_true(conditions, api::conditions::kKeptForVolumes) &&
                   !api::is_true(conditions, api::conditions::kMachineDeleted);
        });
        if (leaving <= pool->spec.scaleDown.maxConcurrent) return;
        stage_.violate("budgets hold", "pool " + pool->metadata.name + " lets " + std::to_string(leaving) +
                                           " nodes leave at once, scaleDown.maxConcurrent is " +
                                           std::to_string(pool->spec.scaleDown.maxConcurrent));
    }

    std::optional<base::TimePoint> repair_ended_;
};

}  // namespace

std::unique_ptr<Invariant> budgets_hold(const Stage& stage) {
    return std::make_unique<BudgetsHold>(stage);
}

}  // namespace simulation
