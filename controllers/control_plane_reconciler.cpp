#include "controllers/control_plane_reconciler.hpp"

#include <algorithm>

#include "bootstrap/settings.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/state/hold_back.hpp"
#include "kube/watches.hpp"

namespace controllers {

namespace {

// Records how well the pool's bootstrap tokens are protected.
void note_tokens(ControlPlaneFacts& facts, const NodeSmithPool& pool) {
    using namespace api::v1alpha1;
    const auto bootstrap = bootstrap_of(pool, &facts.object);
    const auto note = [&pool](const NodeSmithPool*& place) {
        if (!place) place = &pool;
    };
    if (bootstrap.method == BootstrapMethod::None) return;
    if (bootstrap::trusts_every_token(bootstrap.format))
        note(facts.trusts_tokens);
    else if (!bootstrap::binds_tokens(bootstrap))
        note(facts.left_to_cluster);
    else if (bootstrap::asks_for_certificate(bootstrap.format))
        note(facts.joins_by_token);
}

}  // namespace

ControlPlaneReconciler::ControlPlaneReconciler(const Context& context, Reservations& reservations)
    : InContext(context), reservations_(reservations), token_rights_(context.client, context.clock) {}

void ControlPlaneReconciler::subscribe(kube::WorkQueue& queue) {
    const auto& control_planes = informers_.control_planes.store();
    const auto in_its_namespace = [&control_planes](const auto& object) {
        return kube::keys_of(control_planes, kube::in_namespace(object.metadata.namespace_));
    };
    // Another ControlPlane may add or drop pools that this one lists.
    kube::watch(informers_.control_planes).after(kBurst).enqueue(queue, in_its_namespace);
    kube::watch(informers_.pools).after(kBurst).enqueue(queue, in_its_namespace);
    kube::watch(informers_.providers).after(kBurst).enqueue(queue, in_its_namespace);
    kube::watch(informers_.claims).after(kBurst).enqueue(queue, in_its_namespace);
    kube::watch(informers_.nodes)
        .changed(is_ready)
        .after(kBurst)
        .enqueue(queue, [&control_planes](const api::Node&) { return kube::keys_of(control_planes); });
}

ControlPlaneFacts ControlPlaneReconciler::look(const NodeSmithControlPlane& object) const {
    const auto& pools = informers_.pools.store().all();
    const auto& control_planes = informers_.control_planes.store().all();
    ControlPlaneFacts facts{object, pools, control_planes, informers_.providers.store().all(), 0, {}};
    for (const auto* pool : pools_of(object, pools, control_planes)) {
        ++facts.managed_pools;
        note_tokens(facts, *pool);
        const auto claims = informers_.claims.store().by_index(kClaimsByPool, api::key_of(*pool).str());
        facts.counts += counts_of(*pool, claims, informers_.nodes.store().all());
    }
    return facts;
}

asio::awaitable<kube::Result> ControlPlaneReconciler::reconcile(kube::ObjectKey key) {
    const bool held_back = co_await is_held_back(informers_.control_planes, key, client_, events_, clock_);
    if (held_back) co_return kube::Result();
    const auto settle_again = co_await reservations_.settle_control_plane(key);
    if (!informers_.control_planes.store().get(key)) {
        reservations_.forget_control_plane(key);
        co_return kube::Result();
    }
    auto token_rights = co_await token_rights_.ask();
    const auto object = informers_.control_planes.store().get(key);
    if (!object) co_return kube::Result();
    auto facts = look(*object);
    facts.token_rights = std::move(token_rights);
    auto after = *object;
    after.status = next_status(facts, api::Time(clock_.wall_now()));
    const auto now_ready = *api::find_condition(after.status.conditions, conditions::kReady);
    const auto* old_ready = api::find_condition(object->status.conditions, conditions::kReady);
    const bool is_news =
        !old_ready || old_ready->reason != now_ready.reason || old_ready->message != now_ready.message;
    co_await write_status(client_, informers_.control_planes, *object, std::move(after));
    const auto type =
        now_ready.reason == reasons::kImagePreparing ? kube::EventType::normal : kube::EventType::warning;
    if (is_news && now_ready.status == ConditionStatus::False)
        events_.event(kube::target_of(*object), type, now_ready.reason, now_ready.message);
    kube::Result result;
    const auto ask_after = token_rights_.ask_after();
    result.requeue_after = std::min(settle_again.value_or(ask_after), ask_after);
    co_return result;
}

}  // namespace controllers
