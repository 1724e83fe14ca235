// Makes the queue's writes: decisions at claims, records of pools, and the deletion of a claim.
#include "base/log.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/disruption/queue.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/removal_rate.hpp"
#include "controllers/state/replacements.hpp"

namespace controllers::disruption {

asio::awaitable<void> Queue::remove(const PoolView& view, Member member) {
    if (!with_.may_mutate()) throw std::runtime_error("removing a node: this process may no longer lead");
    const auto kind = *under_way(*member.claim);
    // Another node's removal in the same pass has written the pool too.
    const auto pool = with_.informers.pools.store().get(api::key_of(*view.pool));
    if (!pool) co_return;
    auto after = *pool;
    if (is_scale_down(kind)) after.status.lastScaleDownTime = view.now;
    after.status.lastScaleActivity = view.now;
    const auto claims = with_.informers.claims.store().by_index(kClaimsByPool, api::key_of(*pool).str());
    after.status.openReplacements = with_removed(*pool, claims, *member.claim, view.now);
    if (view.manager && view.manager->spec.rateLimits.maxRemovalsPerHour > 0)
        after.status.recentRemovals = with_removal(*pool, *member.claim, view.now);
    co_await write_status(with_.client, with_.informers.pools, *pool, std::move(after));

    const auto& metadata = member.claim->metadata;
    kube::Preconditions same;
    same.uid = metadata.uid;
    co_await with_.client.remove<NodeSmithClaim>(api::key_of(*member.claim), std::move(same));
    deleted_.insert(metadata.uid);
    removed_.with({view.pool->metadata.namespace_, view.pool->metadata.name, std::string(name_of(kind))})
        .add();
    with_.events.event(
        kube::target_of(*member.node), kube::EventType::normal, "RemovingNode",
        std::string(name_of(kind)) + ": the node is drained and its claim " + metadata.name + " is deleted");
    tainted_.erase(metadata.uid);
    with_.announcer.settle(member.node->metadata.uid);
}

asio::awaitable<void> Queue::decided(ClaimPointer claim, Blocker why, std::string cause) {
    auto status = claim->status;
    status.disruptionCause = std::move(cause);
    status.undoneDisruption.clear();
    co_await write_disrupted(std::move(claim), std::move(status), ConditionStatus::True, std::move(why));
}

asio::awaitable<void> Queue::taken_back(ClaimPointer claim, Blocker why, std::optional<Kind> kind) {
    auto status = claim->status;
    status.disruptionCause.clear();
    status.undoneDisruption = kind ? name_of(*kind) : "";
    co_await write_disrupted(std::move(claim), std::move(status), ConditionStatus::False, std::move(why));
}

asio::awaitable<void> Queue::write_disrupted(ClaimPointer claim, api::v1alpha1::ClaimStatus status,
                                             ConditionStatus disrupted, Blocker why) {
    auto after = *claim;
    after.status = std::move(status);
    const auto now = api::Time(with_.clock.wall_now());
    const api::ConditionUpdate update{std::string(conditions::kDisrupted), disrupted, std::move(why.reason),
                                      std::move(why.message), claim->metadata.generation};
    api::set_condition(after.status.conditions, update, now);
    // Concluding here saves the claim's reconciler another write. That reconciler
    // decides whether the Node is Ready.
    conclude(after, std::nullopt, now);
    after.status.phase = claim::phase_of(after);
    co_await write_status(with_.client, with_.informers.claims, *claim, std::move(after));
}

// Writes the pause and catches a failure, so that decisions about the pool's nodes are still carried out.
asio::awaitable<void> Queue::note_replacement(const PoolView& view,
                                              std::optional<api::v1alpha1::ReplacementPause> pause) {
    const auto pool = with_.informers.pools.store().get(api::key_of(*view.pool));
    if (!pool) co_return;
    auto after = *pool;
    after.status.replacementPause = std::move(pause);
    try {
        co_await write_status(with_.client, with_.informers.pools, *pool, std::move(after));
    } catch (const kube::ApiError& error) {
        base::log::warning("The pause between replacements of a pool could not be recorded",
                           {{"pool", api::key_of(*pool).str()}, {"error", error.what()}});
    }
}

}  // namespace controllers::disruption
