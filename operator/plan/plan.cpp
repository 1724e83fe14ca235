#include "operator/plan/plan.hpp"

#include <algorithm>
#include <map>

#include "api/names.hpp"
#include "controllers/claim/state.hpp"
#include "controllers/disruption/budgets.hpp"
#include "controllers/drain.hpp"
#include "controllers/fleet.hpp"
#include "controllers/provisioning/demand.hpp"
#include "controllers/provisioning/freed_room.hpp"
#include "controllers/provisioning/supply.hpp"
#include "scheduling/solver.hpp"

namespace kubenodesmith {
namespace {

using namespace controllers;
using namespace controllers::provisioning;
using scheduling::Availability;

// Everything that a decision is made from.
class Decision {
public:
    explicit Decision(ClusterView& view)
        : view_(view),
          informers_(view.informers()),
          reservations_(informers_, view.client(), view.clock()),
          creations_(view.clock()) {}

    Plan make() {
        const auto unschedulable = informers_.pods.store().by_index(kPodsUnschedulable, "true");
        const auto rules = demand_rules(informers_, unschedulable, view_.now());
        const auto demand = select_demand(unschedulable, {}, informers_.pools.store().all(),
                                          informers_.nodes.store().all(), view_.now(), rules);
        auto world = look(demand.pods);
        freed_ = free_room_of_ending_pods(world, view_.now());
        const auto result = scheduling::solve(world.snapshot);
        note_purchases(world, result);
        note_pods(world, result, demand);
        for (const auto& supply : world.pools) {
            if (!supply.gate.open)
                plan_.closed_pools.push_back({api::key_of(*supply.pool), supply.gate.message});
        }
        for (const auto& cut : result.cuts) plan_.cuts.push_back(cut.message);
        note_nodes(unschedulable, rules);
        return std::move(plan_);
    }

private:
    World look(PodPointers pods) {
        auto supplies = look_at_pools(informers_, reservations_, creations_, view_.now());
        return build_world(informers_, std::move(supplies), std::move(pods), view_.now());
    }

    void note_purchases(const World& world, const scheduling::Result& result) {
        for (const auto& claim : result.claims) {
            PlannedPurchase purchase;
            purchase.pool = api::key_of(*world.pools[claim.pool].pool);
            purchase.cpuCores = claim.cpu_cores;
            purchase.memoryMiB = claim.memory_mib;
            purchase.zone = claim.zone;
            purchase.reason = claim.reason;
            for (const auto* pod : claim.pods) purchase.pods.push_back(api::key_of(*pod));
            plan_.purchases.push_back(std::move(purchase));
        }
    }

    void note_pods(const World& world, const scheduling::Result& result, const Demand& demand) {
        for (const auto& placement : result.placements) {
            if (!demand.waiting.contains(placement.pod->metadata.uid)) continue;
            WaitingPod pod{api::key_of(*placement.pod), WaitingPod::Outlook::purchase, "", {}};
            if (placement.node) {
                const auto& node = world.snapshot.nodes[*placement.node];
                pod.node = node.node->metadata.name;
                pod.outlook = node.availability != Availability::ready ? WaitingPod::Outlook::coming_node
                              : freed_.nodes.contains(*placement.node) ? WaitingPod::Outlook::freed_node
                                                                       : WaitingPod::Outlook::node;
            } else if (placement.claim) {
                pod.node = world.pools[result.claims[*placement.claim].pool].pool->metadata.name;
            }
            plan_.pods.push_back(std::move(pod));
        }
        for (const auto& unplaced : result.unplaced) {
            if (!demand.waiting.contains(unplaced.pod->metadata.uid)) continue;
            plan_.pods.push_back(
                {api::key_of(*unplaced.pod), WaitingPod::Outlook::nothing, "", unplaced.reasons});
        }
        for (const auto& held : demand.held_back) {
            plan_.pods.push_back({api::key_of(*held.pod), WaitingPod::Outlook::nothing, "", {held.message}});
        }
        std::sort(plan_.pods.begin(), plan_.pods.end(),
                  [](const auto& a, const auto& b) { return a.pod < b.pod; });
    }

    // Each node alone: what stands against its going.
    void note_nodes(const PodPointers& unschedulable, const DemandRules& rules) {
        const auto keeping = pods_that_keep_nodes(unschedulable, informers_.pools.store().all(),
                                                  informers_.nodes.store().all(), rules);
        const auto world = look(keeping);
        for (std::size_t i = 0; i < world.snapshot.nodes.size(); ++i) {
            const auto& node = world.snapshot.nodes[i];
            if (node.availability != Availability::ready) continue;
            const auto claims = informers_.claims.store().by_index(kClaimsByNode, node.node->metadata.name);
            if (claims.empty()) continue;
            const auto pool = informers_.pools.store().get(
                {claims.front()->metadata.namespace_, claims.front()->spec.poolRef});
            PlannedRemoval removal;
            removal.node = node.node->metadata.name;
            removal.claim = api::key_of(*claims.front());
            removal.empty = std::none_of(node.pods.begin(), node.pods.end(),
                                         [](const auto& pod) { return is_drainable(*pod); });
            if (!pool || pool->spec.scaleDown.policy == api::v1alpha1::ScaleDownPolicy::Never) {
                removal.reasons = {pool ? "scaleDown.policy of the pool is Never" : "its pool is not there"};
            } else {
                scheduling::RemovalRequest request;
                request.nodes = {i};
                request.headroom_percent = removal.empty ? 0 : pool->spec.scaleDown.headroomPercent;
                auto outcome = scheduling::simulate_removal(world.snapshot, request);
                removal.possible = outcome.possible;
                removal.reasons = std::move(outcome.reasons);
                note_protection(node, removal);
                if (removal.possible) note_budget(*pool, removal);
            }
            plan_.nodes.push_back(std::move(removal));
        }
    }

    void note_protection(const scheduling::Node& node, PlannedRemoval& removal) {
        for (const auto& pod : node.pods) {
            if (!is_drainable(*pod) || !is_protected(*pod, view_.now())) continue;
            removal.possible = false;
            removal.reasons.push_back("pod " + api::key_of(*pod).str() + " must not be disrupted");
        }
    }

    // Disruption budgets, and with them the windows in which the pool's nodes may go.
    void note_budget(const api::v1alpha1::NodeSmithPool& pool, PlannedRemoval& removal) {
        using disruption::Kind;
        disruption::BudgetUse use;
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByPool, api::key_of(pool).str())) {
            const auto node = informers_.nodes.store().get({"", claim->status.nodeName});
            if (!node) continue;
            ++use.nodes;
            const bool leaves =
                claim->metadata.deletionTimestamp || claim::is_true(*claim, api::conditions::kDisrupted);
            if (leaves || !is_ready(*node)) ++use.disrupted;
        }
        const auto kind = removal.empty ? Kind::Empty : Kind::Underutilized;
        const auto blocker = disruption::budget_blocker(pool.spec.disruption, kind, use, view_.now());
        if (!blocker) return;
        removal.possible = false;
        removal.reasons.push_back(blocker->message);
    }

    ClusterView& view_;
    Informers& informers_;
    Reservations reservations_;
    CreationLog creations_;
    FreedRoom freed_;
    Plan plan_;
};

}  // namespace

bool Plan::changes_something() const {
    return !purchases.empty() || std::any_of(nodes.begin(), nodes.end(),
                                             [](const auto& node) { return node.empty && node.possible; });
}

Plan make_plan(ClusterView& view) {
    return Decision(view).make();
}

}  // namespace kubenodesmith
