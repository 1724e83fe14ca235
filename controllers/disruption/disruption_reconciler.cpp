#include "controllers/disruption/disruption_reconciler.hpp"

#include "base/log.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/idleness.hpp"
#include "controllers/state/disruption_state.hpp"

namespace controllers::disruption {

namespace {

// The nodes of all pools count, and changes of other pools do not queue this one.
constexpr base::Duration kAskForHealth = std::chrono::minutes{1};

}  // namespace

DisruptionReconciler::DisruptionReconciler(const Context& context, const Drainer& drainer,
                                           ProviderInstances& instances, DisruptionReports& reports,
                                           LookAtWorld look_at_world, std::function<bool()> may_mutate)
    : InContext(context),
      drainer_(drainer),
      reports_(reports),
      look_at_world_(std::move(look_at_world)),
      announcer_(context.events),
      refusals_(context.clock),
      stopped_(context.informers, context.clock, instances),
      observer_(context.informers, context.clock, reports, stopped_),
      queue_({context.informers, context.client, context.clock, context.events, announcer_, reports,
              refusals_, std::move(may_mutate)},
             context.metrics),
      metrics_(context.metrics) {}

asio::awaitable<kube::Result> DisruptionReconciler::reconcile(kube::ObjectKey key) {
    const auto pool = informers_.pools.store().get(key);
    if (!pool) {
        metrics_.forget(key);
        co_return kube::Result{};
    }
    if (!began_) began_ = clock_.now();
    const Pass::Means means{informers_, clock_, solver_, refusals_, look_at_world_};
    Pass pass(means, observer_.observe(pool));
    report_use(pass);
    co_await attempt(pass, note_spare(pass));
    if (pass.view().facts.leaving + pass.view().facts.kept > 0) {
        co_await queue_.advance(pass);
        pass.renew(observer_.observe(pool));
    }
    co_await decide(pass);
    co_await attempt(pass, note_series(pass));
    if (is_outage(standing_blocker(pass.view().facts))) pass.look_again(kAskForHealth);
    co_return kube::Result{pass.again()};
}

void DisruptionReconciler::report_use(Pass& pass) {
    for (const auto& member : pass.view().members) {
        const auto& claim = *member.claim;
        const auto& facts = member.facts;
        if (claim.metadata.deletionTimestamp) continue;
        pass.look_again(settles_in(facts, pass.view().now));
        if (claim.status.emptySince && !facts.empty_since) announcer_.settle(member.node->metadata.uid);
        reports_.report(claim, {facts.empty_since, facts.unneeded_since, facts.drift});
        if (under_way(claim)) continue;
        reports_.permit(claim, DisruptionReports::Permission::none);
        queue_.is_in_service(claim.metadata.uid);
    }
}

asio::awaitable<void> DisruptionReconciler::attempt(Pass& pass, asio::awaitable<void> note) {
    try {
        co_await std::move(note);
    } catch (const kube::ApiError& error) {
        pass.look_again(error.is_conflict() ? std::chrono::seconds{1} : std::chrono::seconds{30});
        base::log::write(error.is_conflict() ? base::log::Level::debug : base::log::Level::warning,
                         "The status of a pool could not be written",
                         {{"pool", api::key_of(*pass.view().pool).str()}, {"error", error.what()}});
    }
}

asio::awaitable<void> DisruptionReconciler::note_spare(Pass& pass) {
    const auto pool = pass.view().pool;
    const auto& scale_down = pool->spec.scaleDown;
    const bool is_spare = scale_down.policy == api::v1alpha1::ScaleDownPolicy::WhenEmptyOrUnderutilized &&
                          pass.view().use.fits_on_fewer(scale_down.headroomPercent);
    auto after = *pool;
    if (!is_spare && !api::find_condition(after.status.conditions, kConsolidatable)) co_return;
    const api::ConditionUpdate update{
        std::string(kConsolidatable), is_spare ? ConditionStatus::True : ConditionStatus::False,
        is_spare ? "NodesToSpare" : "InUse",
        is_spare ? "by the sum of their requests, the pods of the pool would fit on fewer nodes"
                 : "the pods of the pool and headroomPercent need all of its nodes",
        pool->metadata.generation};
    api::set_condition(after.status.conditions, update, pass.view().now);
    const bool was_written = co_await write_status(client_, informers_.pools, *pool, std::move(after));
    if (was_written) pass.renew(observer_.observe(pool));
}

asio::awaitable<void> DisruptionReconciler::note_series(Pass& pass) {
    const auto pool = pass.view().pool;
    auto after = *pool;
    const auto ended = ended_series(pass.view());
    if (!ended && !api::find_condition(after.status.conditions, conditions::kReplacementDoesNotHelp))
        co_return;
    set_while_told(
        after.status.conditions,
        update(conditions::kReplacementDoesNotHelp, ConditionStatus::True, ended ? name_of(ended->kind) : "",
               ended ? ended->blocker.message : "", pool->metadata.generation),
        pass.view().now);
    if (ended) {
        announcer_.say(kube::target_of(*pool), kube::EventType::warning,
                       std::string(reasons::kReplacementDoesNotHelp), ended->blocker.message);
    } else {
        announcer_.settle(pool->metadata.uid);
    }
    co_await write_status(client_, informers_.pools, *pool, std::move(after));
}

}  // namespace controllers::disruption
