#include "controllers/scale_down.hpp"

#include <algorithm>

#include "controllers/claim/node_changes.hpp"
#include "controllers/drain.hpp"
#include "controllers/membership.hpp"
#include "controllers/writes.hpp"

namespace controllers {

using api::Time;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithControlPlane;
using api::v1alpha1::NodeSmithPool;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

namespace {

// Long enough for the scheduler to see the taint and for pods it had bound before to show.
constexpr base::Duration kValidationPause = std::chrono::seconds{5};

// Pods come and go in bursts, and nothing here is urgent.
constexpr base::Duration kBurst = std::chrono::seconds{1};

using MaybeWait = std::optional<base::Duration>;

MaybeWait sooner(MaybeWait a, MaybeWait b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

MaybeWait until(const Blocker& blocker, Time now) {
    if (!blocker.until) return std::nullopt;
    return std::max<base::Duration>(blocker.until->at - now.at, std::chrono::seconds{1});
}

std::int64_t count_evictable(const std::vector<std::shared_ptr<const api::Pod>>& pods) {
    return std::count_if(pods.begin(), pods.end(), [](const auto& pod) { return is_drainable(*pod); });
}

bool serves(const NodeSmithClaim& claim) {
    return is_staying(claim) && state_of(claim) == ClaimState::ready;
}

}  // namespace

ScaleDownReconciler::ScaleDownReconciler(Informers& informers, kube::Client& client, base::Clock& clock,
                                         kube::EventRecorder& events, base::MetricsRegistry& metrics,
                                         WhyNeeded why_needed, std::function<bool()> may_mutate)
    : informers_(informers),
      client_(client),
      clock_(clock),
      events_(events),
      announcer_(events),
      why_needed_(std::move(why_needed)),
      may_mutate_(std::move(may_mutate)),
      removed_(metrics.counter("kubenodesmith_nodes_removed_total", "Nodes whose removal was begun",
                               {"namespace", "pool", "reason"})),
      undone_(metrics.counter("kubenodesmith_removals_undone_total", "Removals that were given up",
                              {"namespace", "pool", "reason"})) {}

void ScaleDownReconciler::subscribe(kube::WorkQueue& queue) {
    const auto add_pool_of_node = [this, &queue](const std::string& node) {
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, node))
            queue.add_after({claim->metadata.namespace_, claim->spec.poolRef}, kBurst);
    };
    informers_.pods.on_change(
        [this, &queue, add_pool_of_node](const api::Pod* before, const api::Pod* after) {
            const auto& pod = after ? *after : *before;
            if (!pod.spec.nodeName.empty() && is_drainable(pod)) add_pool_of_node(pod.spec.nodeName);
            // A pod that waits no more may have kept an empty node.
            const bool waited = before && is_unschedulable(*before);
            const bool waits = after && is_unschedulable(*after);
            if (waited == waits) return;
            for (const auto& [key, pool] : informers_.pools.store().all()) queue.add(key);
        });
    informers_.nodes.on_change([this, add_pool_of_node](const api::Node* before, const api::Node* after) {
        const bool same = before && after && is_ready(*before) == is_ready(*after) &&
                          before->spec == after->spec &&
                          before->metadata.annotations == after->metadata.annotations;
        if (!same) add_pool_of_node((after ? after : before)->metadata.name);
        if (!after) announcer_.settle(before->metadata.uid);
    });
    informers_.claims.on_change([&queue](const NodeSmithClaim* before, const NodeSmithClaim* after) {
        const auto& claim = after ? *after : *before;
        queue.add({claim.metadata.namespace_, claim.spec.poolRef});
    });
    informers_.pools.on_change([&queue](const NodeSmithPool* before, const NodeSmithPool* after) {
        queue.add(api::key_of(after ? *after : *before));
    });
    informers_.control_planes.on_change(
        [this, &queue](const NodeSmithControlPlane* before, const NodeSmithControlPlane* after) {
            if (before && after && before->spec == after->spec) return;
            for (const auto& [key, pool] : informers_.pools.store().all()) queue.add(key);
        });
}

asio::awaitable<kube::Result> ScaleDownReconciler::reconcile(kube::ObjectKey key) {
    kube::Result result;
    const auto pool = informers_.pools.store().get(key);
    if (!pool) co_return result;
    co_await note_emptiness(look(pool));
    co_await remove_stale_taints(look(pool));

    const auto view = look(pool);
    bool any_under_way = false;
    for (const auto& member : view.members) {
        if (!is_being_removed(*member.claim)) continue;
        any_under_way = true;
        const auto again = co_await advance(view, member);
        result.requeue_after = sooner(result.requeue_after, again);
    }
    // A removal that went a step further changes the view: the next pass decides.
    if (any_under_way && view.pool->spec.scaleDown.maxConcurrent == 1) co_return result;
    const auto again = co_await decide(look(pool));
    result.requeue_after = sooner(result.requeue_after, again);
    co_return result;
}

ScaleDownReconciler::View ScaleDownReconciler::look(PoolPointer pool) {
    View view;
    const auto key = api::key_of(*pool);
    const auto current = informers_.pools.store().get(key);
    view.pool = current ? current : pool;
    view.now = Time(clock_.wall_now());
    const auto& control_planes = informers_.control_planes.store();
    if (const auto* manager = manager_of(key, control_planes.all())) {
        view.manager = control_planes.get(api::key_of(*manager));
        for (const auto* other : pools_of(*manager, informers_.pools.store().all(), control_planes.all()))
            view.manager_fleet +=
                fleet_of(*other, informers_.claims.store().by_index(kClaimsByPool, api::key_of(*other).str()),
                         informers_.nodes.store().all());
    }
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByPool, key.str())) {
        if (serves(*claim)) ++view.staying;
        if (claim->metadata.deletionTimestamp || is_being_removed(*claim)) ++view.leaving;
        if (claim->status.nodeName.empty()) continue;
        const auto node = informers_.nodes.store().get({"", claim->status.nodeName});
        if (!node) continue;
        const auto pods = informers_.pods.store().by_index(kPodsByNode, node->metadata.name);
        view.members.push_back({claim, node, count_evictable(pods)});
    }
    return view;
}

bool ScaleDownReconciler::observes(const View& view) {
    return view.manager && view.manager->spec.mode == api::v1alpha1::Mode::Observe;
}

PoolRemovalFacts ScaleDownReconciler::pool_facts(const View& view) {
    PoolRemovalFacts facts{*view.pool};
    facts.manager = view.manager.get();
    facts.manager_fleet = view.manager_fleet;
    facts.leaving = view.leaving;
    if (view.manager) facts.removals_last_hour = removals_last_hour(api::key_of(*view.manager));
    for (const auto& member : view.members) {
        const auto* disrupted = api::find_condition(member.claim->status.conditions, conditions::kDisrupted);
        if (disrupted && disrupted->status == api::ConditionStatus::False &&
            disrupted->reason == reasons::kDrainTimeout)
            facts.last_abort = std::max(facts.last_abort, disrupted->lastTransitionTime);
    }
    return facts;
}

std::optional<Blocker> ScaleDownReconciler::judge(const View& view, const Member& member) const {
    NodeRemovalFacts facts{*view.pool, *member.claim, *member.node};
    facts.evictable_pods = member.evictable_pods;
    facts.staying = view.staying + (serves(*member.claim) ? 0 : 1);
    if (auto why = node_blocker(facts, view.now)) return why;
    // Only now, because a simulation costs more than everything else here.
    facts.needed_because = why_needed_(member.node->metadata.name);
    return node_blocker(facts, view.now);
}

asio::awaitable<void> ScaleDownReconciler::note_emptiness(View view) {
    for (const auto& member : view.members) {
        const auto since = empty_since(*member.claim, member.node.get(), member.evictable_pods, view.now);
        if (since == member.claim->status.emptySince) continue;
        auto after = *member.claim;
        after.status.emptySince = since;
        // No list is touched, and nobody else writes this field: no lock is needed.
        auto patch = kube::difference(*member.claim, after, kube::Lock::none);
        NodeSmithClaim written =
            co_await client_.patch_status<NodeSmithClaim>(api::key_of(after), std::move(*patch));
        informers_.claims.observe(std::move(written));
        if (!since) announcer_.settle(member.node->metadata.uid);
    }
}

asio::awaitable<void> ScaleDownReconciler::remove_stale_taints(View view) {
    for (const auto& member : view.members) {
        if (!has_leaving_taint(*member.node) || !is_staying(*member.claim)) continue;
        tainted_.erase(member.claim->metadata.uid);
        co_await patch_node(member.node, back_in_service(*member.node));
    }
}

asio::awaitable<MaybeWait> ScaleDownReconciler::advance(View view, Member member) {
    auto why = standing_blocker(pool_facts(view));
    if (!why && observes(view))
        why = Blocker{"Observe", "the control plane's mode is Observe now", std::nullopt};
    if (!why) why = judge(view, member);
    if (why) {
        co_await undo(member, *why);
        co_return std::nullopt;
    }
    const auto& uid = member.claim->metadata.uid;
    if (!has_leaving_taint(*member.node)) {
        tainted_.erase(uid);
        const claim::NodeOrigin origin{*member.claim, view.pool.get(), ""};
        co_await patch_node(member.node, claim::leaving(*member.node, origin));
    }
    const auto validate_at = tainted_.try_emplace(uid, clock_.now()).first->second + kValidationPause;
    if (clock_.now() < validate_at) co_return validate_at - clock_.now();

    why = co_await look_live(member);
    if (why)
        co_await undo(member, *why);
    else
        co_await remove(view, member);
    co_return std::nullopt;
}

asio::awaitable<void> ScaleDownReconciler::undo(Member member, Blocker why) {
    const auto& pool = member.claim->spec.poolRef;
    undone_.with({member.claim->metadata.namespace_, pool, why.reason}).add();
    events_.event(kube::target_of(*member.node), kube::EventType::normal, "RemovalUndone",
                  "the node stays: " + why.message);
    // The taint goes in the next pass, by the same rule that mends a crash between the two.
    co_await set_disrupted(member.claim, api::ConditionStatus::False, why.reason,
                           "the node stays: " + why.message);
}

asio::awaitable<std::optional<Blocker>> ScaleDownReconciler::look_live(Member member) {
    kube::ListOptions options;
    options.field_selector = "spec.nodeName=" + member.node->metadata.name;
    const auto pods = co_await client_.list<api::Pod>(std::move(options));
    const bool empty =
        std::none_of(pods.begin(), pods.end(), [](const auto& pod) { return is_drainable(pod); });
    if (empty) co_return std::nullopt;
    co_return Blocker{"NotEmpty", "pods run on the node", std::nullopt};
}

asio::awaitable<void> ScaleDownReconciler::remove(View view, Member member) {
    if (!may_mutate_()) throw std::runtime_error("removing an empty node: this process may no longer lead");
    auto after = *view.pool;
    after.status.lastScaleDownTime = view.now;
    after.status.lastScaleActivity = view.now;
    co_await write_status(client_, informers_.pools, *view.pool, std::move(after));

    kube::Preconditions same;
    same.uid = member.claim->metadata.uid;
    co_await client_.remove<NodeSmithClaim>(api::key_of(*member.claim), std::move(same));
    removals_[api::key_of(*view.manager)].push_back(clock_.now());
    removed_.with({view.pool->metadata.namespace_, view.pool->metadata.name, std::string(reasons::kEmpty)})
        .add();
    events_.event(kube::target_of(*member.node), kube::EventType::normal, "RemovingNode",
                  "the node was empty since " + member.claim->status.emptySince.value_or(view.now).str() +
                      ": its claim " + member.claim->metadata.name + " is deleted");
    tainted_.erase(member.claim->metadata.uid);
    announcer_.settle(member.node->metadata.uid);
}

asio::awaitable<MaybeWait> ScaleDownReconciler::decide(View view) {
    std::vector<Member> empty;
    for (const auto& member : view.members)
        if (member.claim->status.emptySince && is_staying(*member.claim)) empty.push_back(member);
    std::sort(empty.begin(), empty.end(), [](const Member& a, const Member& b) {
        return std::tie(a.claim->status.emptySince, a.claim->metadata.name) <
               std::tie(b.claim->status.emptySince, b.claim->metadata.name);
    });
    const auto of_pool = pool_blocker(pool_facts(view), view.now);
    MaybeWait again;
    for (const auto& member : empty) {
        auto why = judge(view, member);
        if (!why) why = of_pool;
        const auto about = kube::target_of(*member.node);
        if (why) {
            again = sooner(again, until(*why, view.now));
            // That it has just become empty is no news.
            if (why->reason != "EmptyGracePeriod")
                announcer_.say(about, kube::EventType::normal, "ScaleDownBlocked",
                               "the node is empty but stays: " + why->message);
            continue;
        }
        if (observes(view)) {
            announcer_.say(about, kube::EventType::normal, "WouldRemove",
                           "the node is empty and would be removed if the control plane's mode were Active");
            continue;
        }
        co_await set_disrupted(member.claim, api::ConditionStatus::True, std::string(reasons::kEmpty),
                               "the node is empty and leaves");
        co_return base::Duration::zero();
    }
    co_return again;
}

asio::awaitable<void> ScaleDownReconciler::set_disrupted(ClaimPointer claim, api::ConditionStatus status,
                                                         std::string reason, std::string message) {
    auto after = *claim;
    const api::ConditionUpdate update{std::string(conditions::kDisrupted), status, std::move(reason),
                                      std::move(message), claim->metadata.generation};
    api::set_condition(after.status.conditions, update, Time(clock_.wall_now()));
    co_await write_status(client_, informers_.claims, *claim, std::move(after));
}

asio::awaitable<void> ScaleDownReconciler::patch_node(NodePointer before, api::Node after) {
    auto patch = kube::difference(*before, after, kube::Lock::resource_version);
    if (!patch) co_return;
    api::Node written = co_await client_.patch<api::Node>(api::key_of(*before), std::move(*patch));
    informers_.nodes.observe(std::move(written));
}

std::int64_t ScaleDownReconciler::removals_last_hour(const kube::ObjectKey& manager) {
    auto& times = removals_[manager];
    while (!times.empty() && clock_.now() - times.front() > std::chrono::hours{1}) times.pop_front();
    return static_cast<std::int64_t>(times.size());
}

}  // namespace controllers
