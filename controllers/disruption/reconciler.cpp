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
                                           Drainer& drainer, ProviderInstances& instances,
                                           LookAtWorld look_at_world, std::function<bool()> may_mutate)
    : informers_(informers),
      client_(client),
      clock_(clock),
      events_(events),
      announcer_(events),
      drainer_(drainer),
      instances_(instances),
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
    const bool noted = co_await note_use(pass);
    const bool mended = co_await remove_stale_taints(pass.view);
    const bool weighed = co_await note_spare(pass.view);
    if (noted || mended || weighed) pass.view = look(pool);
    if (pass.view.leaving > 0) {
        co_await advance_power_cycles(pass);
        co_await advance(pass);
        pass.view = look(pool);
        pass.world.reset();
        pass.places.clear();
    }
    co_await decide(pass);
    if (is_outage(standing_blocker(facts_of(pass.view)))) pass.again = sooner(pass.again, kAskForHealth);
    co_return kube::Result{pass.again};
}

asio::awaitable<bool> DisruptionReconciler::note_use(Pass& pass) {
    const auto view = pass.view;
    bool any = false;
    for (const auto& member : view.members) {
        if (member.claim->metadata.deletionTimestamp) continue;
        pass.again = sooner(pass.again, settles_in(*member.claim, view.now));
        const auto facts = facts_of(view, member);
        auto after = *member.claim;
        after.status.emptySince = empty_since(facts, view.now);
        after.status.unneededSince = unneeded_since(facts, view.now);
        const bool drifted = !member.drift.empty();
        if (drifted || api::find_condition(after.status.conditions, conditions::kDrifted)) {
            const api::ConditionUpdate update{
                std::string(conditions::kDrifted),
                drifted ? api::ConditionStatus::True : api::ConditionStatus::False,
                std::string(drifted ? reasons::kDrifted : "UpToDate"),
                drifted ? member.drift : "the node is as it would be made now", std::nullopt};
            api::set_condition(after.status.conditions, update, view.now);
        }
        const bool was_empty = member.claim->status.emptySince.has_value();
        if (was_empty && !after.status.emptySince) announcer_.settle(member.node->metadata.uid);
        if (after.status == member.claim->status) continue;
        // Without a lock if no list is touched: nobody else writes these times.
        const bool same = after.status.conditions == member.claim->status.conditions;
        auto patch =
            kube::difference(*member.claim, after, same ? kube::Lock::none : kube::Lock::resource_version);
        if (!patch) continue;
        NodeSmithClaim written =
            co_await client_.patch_status<NodeSmithClaim>(api::key_of(after), std::move(*patch));
        informers_.claims.observe(std::move(written));
        any = true;
    }
    co_return any;
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

asio::awaitable<bool> DisruptionReconciler::remove_stale_taints(View view) {
    bool any = false;
    for (const auto& member : view.members) {
        const auto& claim = *member.claim;
        if (!has_leaving_taint(*member.node) || !is_staying(claim) || loses_machine(claim)) continue;
        tainted_.erase(claim.metadata.uid);
        co_await patch_node(member.node, back_in_service(*member.node));
        any = true;
    }
    co_return any;
}

asio::awaitable<void> DisruptionReconciler::set_disrupted(ClaimPointer claim, api::ConditionStatus status,
                                                          std::string reason, std::string message) {
    auto after = *claim;
    const api::ConditionUpdate update{std::string(conditions::kDisrupted), status, std::move(reason),
                                      std::move(message), claim->metadata.generation};
    api::set_condition(after.status.conditions, update, api::Time(clock_.wall_now()));
    // Back in service: nothing of the drain remains.
    if (status == api::ConditionStatus::False)
        api::remove_condition(after.status.conditions, conditions::kDrained);
    // Or the claim's reconciler would have to write once more. Whether the Node is Ready is for it to say.
    conclude(after, std::nullopt, api::Time(clock_.wall_now()));
    co_await write_claim(std::move(claim), std::move(after));
}

asio::awaitable<void> DisruptionReconciler::write_claim(ClaimPointer before, NodeSmithClaim after) {
    after.status.phase = claim::phase_of(after);
    co_await write_status(client_, informers_.claims, *before, std::move(after));
}

asio::awaitable<void> DisruptionReconciler::patch_node(NodePointer before, api::Node after) {
    auto patch = kube::difference(*before, after, kube::Lock::resource_version);
    if (!patch) co_return;
    api::Node written = co_await client_.patch<api::Node>(api::key_of(*before), std::move(*patch));
    informers_.nodes.observe(std::move(written));
}

std::int64_t DisruptionReconciler::removals_last_hour(const kube::ObjectKey& manager) {
    auto& times = removals_[manager];
    while (!times.empty() && clock_.now() - times.front() > std::chrono::hours{1}) times.pop_front();
    return static_cast<std::int64_t>(times.size());
}

}  // namespace controllers::disruption
