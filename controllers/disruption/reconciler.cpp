#include "controllers/disruption/reconciler.hpp"

#include <algorithm>

#include "controllers/cache/writes.hpp"
#include "controllers/disruption/waits.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/disruption_state.hpp"

namespace controllers::disruption {

using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithControlPlane;
using api::v1alpha1::NodeSmithHost;
using api::v1alpha1::NodeSmithPool;
using api::v1alpha1::NodeSmithProvider;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

namespace {

// Nodes of all pools count, and the changes of others are not told of here.
constexpr base::Duration kAskForHealth = std::chrono::minutes{1};

}  // namespace

DisruptionReconciler::DisruptionReconciler(Informers& informers, kube::Client& client, base::Clock& clock,
                                           kube::EventRecorder& events, base::MetricsRegistry& metrics,
                                           const Drainer& drainer, ProviderInstances& instances,
                                           DisruptionReports& reports, LookAtWorld look_at_world,
                                           std::function<bool()> may_mutate)
    : informers_(informers),
      client_(client),
      clock_(clock),
      events_(events),
      announcer_(events),
      drainer_(drainer),
      instances_(instances),
      reports_(reports),
      look_at_world_(std::move(look_at_world)),
      may_mutate_(std::move(may_mutate)),
      removed_(metrics.counter("kubenodesmith_nodes_removed_total", "Nodes whose removal was begun",
                               {"namespace", "pool", "reason"})),
      undone_(metrics.counter("kubenodesmith_removals_undone_total", "Removals that were given up",
                              {"namespace", "pool", "reason"})) {}

void DisruptionReconciler::subscribe(kube::WorkQueue& queue) {
    const auto add_pool_of_node = [this, &queue](const std::string& node) {
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, node))
            queue.add_after({claim->metadata.namespace_, claim->spec.poolRef}, kBurst);
    };
    const auto add_all = [this, &queue] {
        for (const auto& [key, pool] : informers_.pools.store().all()) queue.add(key);
    };
    informers_.pods.on_change([add_pool_of_node, add_all](const api::Pod* before, const api::Pod* after) {
        const auto& pod = after ? *after : *before;
        if (!pod.spec.nodeName.empty() && is_drainable(pod)) add_pool_of_node(pod.spec.nodeName);
        // A pod that waits no more may have kept an empty node.
        const bool waited = before && is_unschedulable(*before);
        const bool waits = after && is_unschedulable(*after);
        if (waited != waits) add_all();
    });
    informers_.nodes.on_change([this, add_pool_of_node](const api::Node* before, const api::Node* after) {
        const bool same = before && after && is_ready(*before) == is_ready(*after) &&
                          before->spec == after->spec && before->metadata.labels == after->metadata.labels &&
                          before->metadata.annotations == after->metadata.annotations;
        if (!same) add_pool_of_node((after ? after : before)->metadata.name);
        if (after) return;
        announcer_.settle(before->metadata.uid);
        stays_.erase(before->metadata.name);
    });
    informers_.claims.on_change([this, &queue](const NodeSmithClaim* before, const NodeSmithClaim* after) {
        const auto& claim = after ? *after : *before;
        queue.add({claim.metadata.namespace_, claim.spec.poolRef});
        if (after) return;
        tainted_.erase(claim.metadata.uid);
        refused_.erase(claim.metadata.uid);
        asked_.erase(claim.metadata.uid);
        deleted_.erase(claim.metadata.uid);
        switched_off_.erase(claim.metadata.uid);
    });
    informers_.pools.on_change([&queue](const NodeSmithPool* before, const NodeSmithPool* after) {
        queue.add(api::key_of(after ? *after : *before));
    });
    informers_.providers.on_change(
        [add_all](const NodeSmithProvider* before, const NodeSmithProvider* after) {
            if (!before || !after || before->status.hosts != after->status.hosts ||
                before->status.templates != after->status.templates)
                add_all();
        });
    informers_.hosts.on_change([add_all](const NodeSmithHost* before, const NodeSmithHost* after) {
        if (before && after && before->spec.maintenance != after->spec.maintenance) add_all();
    });
    informers_.control_planes.on_change(
        [add_all](const NodeSmithControlPlane* before, const NodeSmithControlPlane* after) {
            const auto is_healthy = [](const auto* object) {
                return api::is_true(object->status.conditions, conditions::kClusterHealthy);
            };
            const bool same =
                before && after && before->spec == after->spec && is_healthy(before) == is_healthy(after);
            if (!same) add_all();
        });
    informers_.pod_disruption_budgets.on_change(
        [add_all](const api::PodDisruptionBudget* before, const api::PodDisruptionBudget* after) {
            const auto allows = [](const auto* budget) {
                return !budget || budget->status.disruptionsAllowed > 0;
            };
            if (allows(before) != allows(after)) add_all();
        });
}

asio::awaitable<kube::Result> DisruptionReconciler::reconcile(kube::ObjectKey key) {
    const auto pool = informers_.pools.store().get(key);
    if (!pool) co_return kube::Result{};
    Pass pass;
    pass.view = look(pool);
    co_await look_at_machines(pass.view);
    report_use(pass);
    const bool weighed = co_await note_spare(pass.view);
    if (weighed) pass.view = look(pool);
    if (pass.view.leaving > 0) {
        permit_power_cycles(pass);
        co_await advance(pass);
        pass.view = look(pool);
        pass.world.reset();
        pass.places.clear();
    }
    co_await decide(pass);
    if (is_outage(standing_blocker(facts_of(pass.view)))) pass.again = sooner(pass.again, kAskForHealth);
    co_return kube::Result{pass.again};
}

void DisruptionReconciler::report_use(Pass& pass) {
    for (const auto& member : pass.view.members) {
        const auto& claim = *member.claim;
        if (claim.metadata.deletionTimestamp) continue;
        const auto facts = facts_of(pass.view, member);
        pass.again = sooner(pass.again, settles_in(facts, pass.view.now));
        if (claim.status.emptySince && !facts.empty_since) announcer_.settle(member.node->metadata.uid);
        reports_.report(claim, {facts.empty_since, facts.unneeded_since, facts.drift});
        reports_.permit(claim, DisruptionReports::Permission::none);
        if (!under_way(claim)) tainted_.erase(claim.metadata.uid);
    }
}

asio::awaitable<bool> DisruptionReconciler::note_spare(View view) {
    const auto& scale_down = view.pool->spec.scaleDown;
    const bool is_spare = scale_down.policy == api::v1alpha1::ScaleDownPolicy::WhenEmptyOrUnderutilized &&
                          view.use.fits_on_fewer(scale_down.headroomPercent);
    auto after = *view.pool;
    if (!is_spare && !api::find_condition(after.status.conditions, kConsolidatable)) co_return false;
    const api::ConditionUpdate update{
        std::string(kConsolidatable), is_spare ? api::ConditionStatus::True : api::ConditionStatus::False,
        is_spare ? "NodesToSpare" : "InUse",
        is_spare ? "the pods of the pool would fit on fewer nodes, if only sums counted"
                 : "the pods of the pool, and headroomPercent, take all of its nodes",
        view.pool->metadata.generation};
    api::set_condition(after.status.conditions, update, view.now);
    co_return co_await write_status(client_, informers_.pools, *view.pool, std::move(after));
}

asio::awaitable<void> DisruptionReconciler::set_disrupted(ClaimPointer claim, api::ConditionStatus status,
                                                          std::string reason, std::string message) {
    auto after = *claim;
    const api::ConditionUpdate update{std::string(conditions::kDisrupted), status, std::move(reason),
                                      std::move(message), claim->metadata.generation};
    api::set_condition(after.status.conditions, update, api::Time(clock_.wall_now()));
    // Or the claim's reconciler would have to write once more. Whether the Node is Ready is for it to say.
    conclude(after, std::nullopt, api::Time(clock_.wall_now()));
    after.status.phase = claim::phase_of(after);
    co_await write_status(client_, informers_.claims, *claim, std::move(after));
}

std::int64_t DisruptionReconciler::removals_last_hour(const kube::ObjectKey& manager) {
    auto& times = removals_[manager];
    while (!times.empty() && clock_.now() - times.front() > std::chrono::hours{1}) times.pop_front();
    return static_cast<std::int64_t>(times.size());
}

}  // namespace controllers::disruption
