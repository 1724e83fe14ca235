#include "controllers/pool_reconciler.hpp"

#include <algorithm>
#include <utility>

#include "base/task_group.hpp"
#include "base/text.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/provisioning/gates.hpp"
#include "controllers/provisioning/machine_offer.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/services/address_networks.hpp"
#include "controllers/state/failure_pause.hpp"
#include "controllers/state/hold_back.hpp"
#include "controllers/state/losses.hpp"
#include "controllers/state/newest_nodes.hpp"
#include "kube/watches.hpp"
#include "scheduling/nodes/daemon_pods.hpp"

namespace controllers {

namespace {

constexpr std::size_t kDeletedTogether = 16;
// The other claims are deleted soon after one that was not answered in time.
constexpr base::Duration kAfterNoAnswer = std::chrono::seconds{1};

// Returns the part of a Node that affects a pool's status.
const auto& allocatable(const api::Node& node) {
    return node.status.allocatable;
}

const std::string& architecture(const NodeSmithHost& host) {
    return host.status.architecture;
}

// Returns the node that the pod is on, or waits for.
std::string_view node_of_daemon_pod(const api::Pod& pod) {
    return pod.spec.nodeName.empty() ? scheduling::node_aimed_at(pod) : std::string_view(pod.spec.nodeName);
}

const auto& containers(const api::Pod& pod) {
    return pod.spec.containers;
}

// Reports the part of a control plane that affects the pools it lists.
bool is_cluster_unhealthy(const NodeSmithControlPlane& control_plane) {
    return api::is_false(control_plane.status.conditions, conditions::kClusterHealthy);
}

// Returns the reservations if the control plane has limits; without limits nothing is reserved.
auto counted_against_limits(const NodeSmithControlPlane& control_plane) {
    const bool counts = limits::limits_of(control_plane.spec).any();
    return counts ? std::optional(control_plane.status.reserved) : std::nullopt;
}

bool has_joined(const NodeSmithClaim& claim) {
    return api::is_true(claim.status.conditions, conditions::kRegistered);
}

// Returns the times at which the status changes without any event.
std::vector<api::Time> times_of(const NodeSmithPool& pool, const api::v1alpha1::PoolStatus& status) {
    std::vector<api::Time> times;
    if (const auto opens = scale_up_opens(pool, status)) times.push_back(*opens);
    if (status.nextRetryTime) times.push_back(*status.nextRetryTime);
    if (status.losses && status.losses->nextRetryTime) times.push_back(*status.losses->nextRetryTime);
    if (const auto end = end_of_losses(status)) times.push_back(*end);
    if (status.learnedExpires) times.push_back(*status.learnedExpires);
    for (const auto& learned : status.learnedDaemonSets)
        if (learned.expires) times.push_back(*learned.expires);
    for (const auto& learned : status.learnedVolumeLimits)
        if (learned.expires) times.push_back(*learned.expires);
    return times;
}

}  // namespace

PoolReconciler::PoolReconciler(const Context& context, Reservations& reservations)
    : InContext(context), reservations_(reservations), addresses_(context.informers, context.client) {}

void PoolReconciler::subscribe(kube::WorkQueue& queue) {
    const auto& pools = informers_.pools.store();
    kube::watch(informers_.pools).enqueue(queue);
    reservations_.refusals().on_change([&queue](const kube::ObjectKey& pool) { queue.add(pool); });
    // A pool with the same name may start or end a label conflict.
    kube::watch(informers_.pools).appeared_or_gone().enqueue(queue, [&pools](const NodeSmithPool& pool) {
        return kube::keys_of(
            pools, [&pool](const auto& other) { return other.metadata.name == pool.metadata.name; });
    });

    const auto pool_of = [](const NodeSmithClaim& claim) {
        return kube::ObjectKey(claim.metadata.namespace_, claim.spec.poolRef);
    };
    kube::watch(informers_.claims).after(kBurst).enqueue(queue, pool_of);
    const auto pools_of_node = [this, pool_of](std::string_view name) {
        kube::Keys keys;
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, std::string(name)))
            keys.push_back(pool_of(*claim));
        return keys;
    };
    kube::watch(informers_.nodes)
        .changed(is_ready, allocatable)
        .after(kBurst)
        .enqueue(queue, [pools_of_node](const api::Node& node) { return pools_of_node(node.metadata.name); });
    // These show what the next machine needs, see newest_nodes.hpp.
    kube::watch(informers_.csi_nodes)
        .changed(&api::CSINode::spec)
        .after(kBurst)
        .enqueue(queue,
                 [pools_of_node](const api::CSINode& csi) { return pools_of_node(csi.metadata.name); });
    kube::watch(informers_.pods)
        .when(scheduling::is_of_daemon_set)
        .changed(node_of_daemon_pod, containers)
        .after(kBurst)
        .enqueue(queue,
                 [pools_of_node](const api::Pod& pod) { return pools_of_node(node_of_daemon_pod(pod)); });

    const auto pools_of = [&pools](const kube::ObjectKey& provider) {
        return kube::keys_of(pools.by_index(kPoolsByProvider, provider.str()));
    };
    // A claim that became a Node may end the pauses of the provider's other pools.
    kube::watch(informers_.claims)
        .changed(has_joined)
        .after(kBurst)
        .enqueue(queue,
                 [pools_of](const NodeSmithClaim& claim) { return pools_of(claim::provider_of(claim)); });
    kube::watch(informers_.providers).enqueue(queue, [pools_of](const NodeSmithProvider& provider) {
        return pools_of(api::key_of(provider));
    });
    kube::watch(informers_.hosts)
        .changed(is_free, kube::kLabels, kube::kGeneration, architecture)
        .after(kBurst)
        .enqueue(queue, [pools_of](const NodeSmithHost& host) {
            return pools_of({host.metadata.namespace_, host.spec.providerRef});
        });
    kube::watch(informers_.control_planes)
        .changed(&NodeSmithControlPlane::spec, kube::kDeletion, is_cluster_unhealthy, counted_against_limits)
        .enqueue(queue, [&pools](const NodeSmithControlPlane& control_plane) {
            return kube::keys_of(pools, kube::in_namespace(control_plane.metadata.namespace_));
        });
}

PoolObservation PoolReconciler::look(const NodeSmithPool& pool) const {
    const auto key = api::key_of(pool);
    const auto provider = informers_.providers.store().get({key.namespace_, pool.spec.providerRef});
    PoolObservation facts{pool, informers_.claims.store().by_index(kClaimsByPool, key.str()),
                          informers_.nodes.store().all()};
    facts.manager = manager_of(key, informers_.control_planes.store().all());
    facts.provider = provider.get();  // valid until the next co_await, because then the store may change
    facts.label_conflict = label_conflict(pool, informers_.pools.store().all());
    if (provider && provider->spec.redfish)
        facts.bare_metal = informers_.hosts.store().by_index(kHostsByProvider, api::key_of(*provider).str());
    add_newest_nodes(facts, informers_);
    facts.others_joined = joined_of_others(informers_, pool);
    facts.address_conflicts = conflicts_text(address_conflicts(informers_, pool));
    facts.no_address = addresses_.obstacle(pool);
    if (const auto found = deletions_.find(key); found != deletions_.end())
        facts.deletion_refused = found->second.refusal;
    if (facts.manager && facts.manager->spec.rateLimits.maxCreationsPerHour > 0)
        facts.creations_last_hour = creations_last_hour(*facts.manager);
    const auto refusals = reservations_.refusals().of(pool);
    if (!refusals.empty()) facts.claims_refused = provisioning::refusal_text(refusals.front());
    return facts;
}

std::int64_t PoolReconciler::creations_last_hour(const NodeSmithControlPlane& manager) const {
    std::int64_t sum = 0;
    const auto now = api::Time(clock_.wall_now());
    const auto& pools = informers_.pools.store().all();
    for (const auto* pool : pools_of(manager, pools, informers_.control_planes.store().all())) {
        const auto claims = informers_.claims.store().by_index(kClaimsByPool, api::key_of(*pool).str());
        sum += provisioning::creations_last_hour(*pool, claims, now);
    }
    return sum;
}

asio::awaitable<kube::Result> PoolReconciler::reconcile(kube::ObjectKey key) {
    auto pool = informers_.pools.store().get(key);
    if (!pool) {
        reservations_.forget_pool(key);
        deletions_.erase(key);
        co_return kube::Result();
    }
    const bool held_back = co_await is_held_back(informers_.pools, key, client_, events_, clock_);
    if (held_back) co_return kube::Result();
    pool = informers_.pools.store().get(key);
    if (!pool) co_return kube::Result();
    if (!pool->metadata.deletionTimestamp)
        co_await ensure_finalizer(client_, informers_.pools, *pool, api::finalizers::kPool);
    const auto settle_again = co_await reservations_.settle_pool(key);
    co_await addresses_.release_unused(key);

    pool = informers_.pools.store().get(key);
    if (!pool) co_return kube::Result();
    const auto now = api::Time(clock_.wall_now());
    auto after = *pool;
    after.status = next_status(look(*pool), now);
    const auto looks = times_of(after, after.status);
    say_what_was_learned(*pool, after);
    say_what_is_wrong(*pool, after);
    say_what_others_do(*pool, after);
    co_await write_status(client_, informers_.pools, *pool, std::move(after));

    pool = informers_.pools.store().get(key);
    if (!pool) co_return kube::Result();
    kube::Result result;
    if (pool->metadata.deletionTimestamp) result = co_await finalize(pool);
    result.requeue_after = kube::sooner(result.requeue_after, settle_again);
    // One second is added, because times in the status have whole seconds.
    for (const auto& look : looks)
        if (now < look)
            result.requeue_after =
                kube::sooner(result.requeue_after, look.at - now.at + std::chrono::seconds{1});
    // A refusal that is not repeated expires after a while.
    for (const auto& refusal : reservations_.refusals().of(*pool))
        result.requeue_after =
            kube::sooner(result.requeue_after, refusal.pause_ends + ClaimRefusals::kBelieved - clock_.now());
    // The oldest creation of the hour is forgotten, and a machine has served for long enough, without an
    // event.
    const auto* available = api::find_condition(pool->status.conditions, conditions::kAvailable);
    const bool ends_by_time =
        available && (available->reason == reasons::kRateLimited || available->reason == kOneAtATime);
    if (ends_by_time) result.requeue_after = kube::sooner(result.requeue_after, std::chrono::minutes{1});
    // A Node needs a while to show that it has none of the taints.
    if (!pool->status.undeclaredTaints.empty())
        result.requeue_after = kube::sooner(result.requeue_after, std::chrono::minutes{1});
    co_return result;
}

void PoolReconciler::say_what_is_wrong(const NodeSmithPool& before, const NodeSmithPool& after) {
    for (const auto type : {conditions::kConfigurationValid, conditions::kLabelsContested}) {
        const auto* now = api::find_condition(after.status.conditions, type);
        const auto* then = api::find_condition(before.status.conditions, type);
        if (now && (!then || then->message != now->message))
            events_.warning(before, now->reason, now->message);
    }
}

// Emits Events for changed conditions about outside interference. The condition decides what is news, because
// the claim's reconciler may have counted a loss first.
void PoolReconciler::say_what_others_do(const NodeSmithPool& before, const NodeSmithPool& after) {
    for (const auto type :
         {conditions::kTakenAway, conditions::kUndeclaredTaints, conditions::kAddressConflict}) {
        const auto* now = api::find_condition(after.status.conditions, type);
        const auto* then = api::find_condition(before.status.conditions, type);
        if (now && (!then || then->message != now->message))
            events_.warning(before, std::string(type), now->message);
    }
}

// Emits an Event when the learned offer changes what the pool's machines are expected to provide.
void PoolReconciler::say_what_was_learned(const NodeSmithPool& before, const NodeSmithPool& after) {
    if (after.status.learnedOffer == before.status.learnedOffer) return;
    const auto provider =
        informers_.providers.store().get({before.metadata.namespace_, before.spec.providerRef});
    const auto hash = claim::template_hash(after, provider.get());
    scheduling::Pool old_picture;
    scheduling::Pool new_picture;
    const auto* manager = manager_of(api::key_of(before), informers_.control_planes.store().all());
    using provisioning::with_bootstrap;
    provisioning::describe_machines(old_picture, with_bootstrap(before, manager), provider.get(), hash);
    provisioning::describe_machines(new_picture, with_bootstrap(after, manager), provider.get(), hash);
    std::string text;
    if (new_picture.pods_per_node != old_picture.pods_per_node)
        text = "take " + base::counted(new_picture.pods_per_node, "pod");
    const auto storage = new_picture.ephemeral_storage_mib;
    if (storage && storage != old_picture.ephemeral_storage_mib)
        text += (text.empty() ? "" : " and ") + std::string("offer ") + std::to_string(*storage) +
                " MiB of ephemeral storage";
    if (text.empty()) return;
    events_.normal(before, "OfferLearned",
                   "its Nodes " + text + ": new machines are sized accordingly from now on");
}

asio::awaitable<kube::Result> PoolReconciler::finalize(Pointer pool) {
    kube::Result wait;
    wait.requeue_after = std::chrono::seconds{30};  // changes of the claims queue the pool sooner
    if (!api::has_finalizer(pool->metadata, api::finalizers::kPool)) co_return kube::Result();
    kube::ListOptions options;
    options.namespace_ = pool->metadata.namespace_;
    const auto claims = co_await client_.list<NodeSmithClaim>(std::move(options));
    bool any = false;
    // The pool waits for a claim that cannot be decoded, but does not delete it.
    for (const auto& claim : claims.undecodable)
        any = any || claim.rest.spec.poolRef.empty() || claim.rest.spec.poolRef == pool->metadata.name;
    std::vector<NodeSmithClaim> left;
    for (const auto& claim : claims.objects) {
        if (claim.spec.poolRef != pool->metadata.name) continue;
        any = true;
        if (!claim.metadata.deletionTimestamp) left.push_back(claim);
    }
    const auto refusal = std::exchange(deletions_[api::key_of(*pool)].refusal, {});
    co_await delete_claims(pool, std::move(left));
    // The condition Ready names the claim in the next round.
    const auto& deletion = deletions_[api::key_of(*pool)];
    // The text may differ each time.
    if (deletion.refusal.empty() != refusal.empty()) wait.requeue_after = std::chrono::seconds{1};
    if (deletion.has_unanswered) wait.requeue_after = kAfterNoAnswer;
    // A reservation may still become a claim, so the pool stays until it has settled.
    if (any || pool->status.reserved.nodes > 0) co_return wait;
    co_await drop_finalizer(client_, informers_.pools, *pool, api::finalizers::kPool);
    co_return kube::Result();
}

// Deletes several claims at the same time. A round ends when one of them was not answered in time, so that it
// takes half a minute at most. The next round begins with the others.
asio::awaitable<void> PoolReconciler::delete_claims(Pointer pool, std::vector<NodeSmithClaim> claims) {
    const auto key = api::key_of(*pool);
    auto& deletion = deletions_[key];
    deletion.has_unanswered = false;
    const auto turns = deletion.turns.in_turn(std::move(claims),
                                              [](const NodeSmithClaim& claim) { return claim.metadata.uid; });
    for (std::size_t i = 0; i < turns.size() && !deletions_[key].has_unanswered; i += kDeletedTogether) {
        base::TaskGroup group(co_await asio::this_coro::executor);
        for (auto at = i; at < std::min(turns.size(), i + kDeletedTogether); ++at)
            group.spawn(delete_claim(pool, turns[at]));
        co_await group.join();
    }
}

// Deletes one claim and catches a refusal, so that the others are deleted too.
// The pool's next round tries again.
asio::awaitable<void> PoolReconciler::delete_claim(Pointer pool, NodeSmithClaim claim) {
    const auto& uid = claim.metadata.uid;
    api::Preconditions same;
    same.uid = uid;
    std::string refusal;
    try {
        co_await client_.remove<NodeSmithClaim>(api::key_of(claim), std::move(same));
    } catch (const kube::ApiError& error) {
        if (error.is_not_found()) co_return;
        auto& deletion = deletions_[api::key_of(*pool)];
        if (deletion.turns.note_failure(uid, error)) deletion.has_unanswered = true;
        refusal = error.message;
        // The smallest name makes the text the same in each round.
        auto text = "claim " + claim.metadata.name + " cannot be deleted: " + refusal;
        if (deletion.refusal.empty() || text < deletion.refusal) deletion.refusal = std::move(text);
    }
    if (!refusal.empty()) {
        events_.warning(
            claim, std::string(reasons::kRequestRefused),
            "pool " + pool->metadata.name + " is being deleted, but the claim cannot be deleted: " + refusal);
        co_return;
    }
    deletions_[api::key_of(*pool)].turns.note_success(uid);
    events_.normal(claim, "PoolDeleted",
                   "deleted because its pool " + pool->metadata.name + " is being deleted");
}

}  // namespace controllers
