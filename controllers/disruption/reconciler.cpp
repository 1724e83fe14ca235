#include "controllers/disruption/reconciler.hpp"

#include <algorithm>

#include "controllers/cache/writes.hpp"
#include "controllers/disruption/waits.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/disruption_state.hpp"

namespace controllers::disruption {

using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithPool;
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
