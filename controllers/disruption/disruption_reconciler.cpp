#include "controllers/disruption/disruption_reconciler.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/log.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/methods/repair.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/idleness.hpp"
#include "controllers/disruption/rules/series.hpp"
#include "controllers/state/prices.hpp"
#include "kube/watches.hpp"

namespace controllers::disruption {

namespace {

// The nodes of all pools count, and changes of other pools do not queue this one.
constexpr base::Duration kAskForHealth = std::chrono::minutes{1};
constexpr base::Duration kQuietAfterLateWrite = std::chrono::minutes{5};

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
      observer_(context.informers, context.clock, reports, &stopped_),
      queue_({context.informers, context.client, context.clock, context.events, announcer_, reports,
              refusals_, std::move(may_mutate)},
             context.metrics),
      metrics_(context.metrics) {}

asio::awaitable<kube::Result> DisruptionReconciler::reconcile(kube::ObjectKey key) {
    const auto pool = informers_.pools.store().get(key);
    if (!pool) {
        metrics_.forget(key);
        quiet_until_.erase(key);
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
    if (!pass.is_unanswered()) co_await attempt(pass, note_series(pass));
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

// One worker serves all pools. What is only noted in the status of a pool must not delay the others each
// time.
asio::awaitable<void> DisruptionReconciler::attempt(Pass& pass, asio::awaitable<void> note) {
    const auto key = api::key_of(*pass.view().pool);
    const auto quiet = quiet_until_.find(key);
    if (quiet != quiet_until_.end() && clock_.now() < quiet->second) {
        pass.look_again(std::chrono::seconds{30});
        co_return;
    }
    try {
        co_await std::move(note);
        quiet_until_.erase(key);
    } catch (const kube::ApiError& error) {
        if (took_long(error)) quiet_until_[key] = clock_.now() + kQuietAfterLateWrite;
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

// ---- which node is next, and why the others are kept
namespace {

// An evicted pod is counted nowhere until its controller has created another one and the cache shows it. A
// node that looks empty meanwhile may be its destination.
constexpr base::Duration kSuccessorsKnown = std::chrono::seconds{10};

double price_of(const Member& member) {
    const auto size = size_of(*member.node);
    return prices_of(member.facts.pool).of({size.cpuCores, size.memoryMiB});
}

// Reports whether the blocker deserves an Event. A node that just became empty does
// not, nor one that waits for others.
bool is_news(const Blocker& why) {
    return why.reason != "EmptyGracePeriod" && why.reason != "MaxConcurrent";
}

bool may_be_chosen(const NodeSmithClaim& claim) {
    return is_staying(claim) && !claim::loses_machine(claim) && !is_power_cycling(claim);
}

// Sorts first the node with the fewest pods to move and the largest saving.
bool goes_before(const Candidate& a, const Candidate& b) {
    const auto order = [](const Candidate& candidate) {
        const auto& member = *candidate.member;
        return std::tuple(member.facts.utilization_percent, -price_of(member), member.facts.empty_since,
                          member.claim->metadata.name);
    };
    return order(a) < order(b);
}

// Reports whether the node will be replaced. A power cycle is no replacement.
bool is_replaced(const Member& member, Kind kind, api::Time now) {
    if (kind == Kind::Underutilized) return false;  // decided when the new places of its pods are known
    return kind != Kind::Unhealthy || !has_a_second_chance(member.facts, now);
}

// Returns the blocker that ends replacements for drift. If even a machine made for its replacement has
// drifted, others would too. One machine without drift proves that replacing helps.
std::optional<Blocker> drift_that_stays(const PoolView& view) {
    std::optional<Blocker> found;
    for (const auto& member : view.members) {
        if (member.facts.drift.empty() && !member.claim->status.templateHash.empty()) return std::nullopt;
        if (!found) found = series_blocker(member.facts, Kind::Drifted, view.now);
    }
    return found;
}

std::optional<Blocker> series_of(const PoolView& view, const Member& member, Kind kind) {
    if (!is_replaced(member, kind, view.now)) return std::nullopt;
    auto own = series_blocker(member.facts, kind, view.now);
    return own || kind != Kind::Drifted ? own : drift_that_stays(view);
}

// Returns why the node is kept, with a message that names the node.
std::optional<Stay> series_at(const PoolView& view, const Member& member) {
    for (const auto& method : methods()) {
        if (method.candidacy(member.facts, view.now).why.empty()) continue;
        const bool may_help = method.kind == Kind::Unhealthy && has_a_second_chance(member.facts, view.now);
        auto why = may_help ? std::nullopt : series_blocker(member.facts, method.kind, view.now);
        if (!why) continue;
        why->message = "Node " + member.node->metadata.name + ": " + why->message;
        return Stay{method.kind, *std::move(why)};
    }
    return std::nullopt;
}

std::optional<Blocker> blocker_of(const PoolView& view, const Member& member, Kind kind) {
    if (auto why = series_of(view, member, kind)) return why;
    if (auto why = node_blocker(view.facts, member.facts, kind, view.now)) return why;
    if (auto why = pod_blocker(member.pods, pod_rules(view, member, kind), view.now)) return why;
    return pool_blocker(view.facts, kind, view.now);
}

base::LabelValues labels_of(const kube::ObjectKey& pool, Kind kind) {
    return {pool.namespace_, pool.name, std::string(name_of(kind))};
}

}  // namespace

DisruptionMetrics::DisruptionMetrics(base::MetricsRegistry& registry)
    : eligible_(registry.gauge("kubenodesmith_disruption_eligible_nodes",
                               "Nodes that there is a reason to remove, at the last decision about the pool",
                               {"namespace", "pool", "reason"})),
      allowed_(registry.gauge("kubenodesmith_disruption_allowed_nodes",
                              "Further nodes whose removal disruption.budgets and scaleDown.maxConcurrent "
                              "allow, at the last decision about the pool",
                              {"namespace", "pool", "reason"})),
      took_(registry
                .histogram("kubenodesmith_disruption_decision_seconds",
                           "Duration of one decision about the nodes of a pool, without carrying it out",
                           {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10})
                .with({})) {}

void DisruptionMetrics::note(const PoolView& view, const std::vector<std::vector<Candidate>>& found) {
    const auto key = api::key_of(*view.pool);
    for (const auto& method : methods()) {
        const auto labels = labels_of(key, method.kind);
        eligible_.with(labels).set(static_cast<double>(found[rank(method.kind)].size()));
        allowed_.with(labels).set(
            static_cast<double>(allowed_disruptions(view.facts, method.kind, view.now)));
    }
}

void DisruptionMetrics::note_decision(base::Duration took) {
    took_.observe(std::chrono::duration<double>(took).count());
}

void DisruptionMetrics::forget(const kube::ObjectKey& pool) {
    for (const auto& method : methods())
        for (auto* family : {&eligible_, &allowed_}) family->remove(labels_of(pool, method.kind));
}

std::optional<Stay> ended_series(const PoolView& view) {
    for (const auto& member : view.members) {
        if (!may_be_chosen(*member.claim)) continue;
        if (auto found = series_at(view, member)) return found;
    }
    return std::nullopt;
}

asio::awaitable<void> DisruptionReconciler::decide(Pass& pass) {
    auto begin = clock_.now();
    base::Duration took{};
    auto found = candidates(pass);
    metrics_.note(pass.view(), found);
    std::set<std::string> chosen;
    for (const auto& method : methods()) {
        // A pool that is only observed gets all its findings. But pods are tried elsewhere only
        // after the other removals are done.
        const bool is_last = !chosen.empty() && method.kind == Kind::Underutilized;
        if (is_last || (!chosen.empty() && !pass.view().observes())) break;
        const auto kind = method.kind;
        auto commands = method.judge(pass, kind, unblocked(pass, kind, std::move(found[rank(kind)])));
        took += clock_.now() - begin;
        for (auto& command : commands) {
            const auto name = command.member.node->metadata.name;
            const auto claim = command.member.claim;
            stays_.erase(name);
            if (chosen.contains(name)) continue;
            const bool has_begun = co_await carry_out(pass, std::move(command));
            // A node whose claim cannot be written yields its turn to the others.
            if (has_begun)
                chosen.insert(name);
            else if (queue_.refusal_of(*claim))
                pass.look_again(base::Duration::zero());
        }
        begin = clock_.now();
    }
    metrics_.note_decision(took);
    say_what_stays(pass, chosen);
}

std::vector<std::vector<Candidate>> DisruptionReconciler::candidates(Pass& pass) {
    std::vector<std::vector<Candidate>> found(methods().size());
    for (const auto& member : pass.view().members) {
        if (!may_be_chosen(*member.claim)) continue;
        bool is_any = false;
        for (const auto& method : methods()) {
            auto candidacy = method.candidacy(member.facts, pass.view().now);
            pass.look_again_at(candidacy.look_again);
            if (candidacy.why.empty()) continue;
            is_any = true;
            found[rank(method.kind)].push_back({&member, std::move(candidacy.why)});
        }
        if (!is_any) stays_.erase(member.node->metadata.name);
    }
    return found;
}

std::vector<Candidate> DisruptionReconciler::unblocked(Pass& pass, Kind kind,
                                                       std::vector<Candidate> candidates) const {
    const auto wait = is_scale_down(kind) ? successors_known_in() : std::nullopt;
    if (wait && !candidates.empty()) {
        pass.look_again(wait);
        return {};
    }
    std::ranges::sort(candidates, goes_before);
    std::erase_if(candidates, [&](const Candidate& candidate) {
        auto why = queue_.refusal_of(*candidate.member->claim);
        if (!why) why = blocker_of(pass.view(), *candidate.member, kind);
        if (why) pass.keep(*candidate.member, kind, *why);
        return why.has_value();
    });
    return candidates;
}

std::optional<base::Duration> DisruptionReconciler::successors_known_in() const {
    const auto known_at = drainer_.evicted_at().value_or(*began_) + kSuccessorsKnown;
    if (known_at <= clock_.now()) return std::nullopt;
    return known_at - clock_.now();
}

asio::awaitable<bool> DisruptionReconciler::carry_out(Pass& pass, Command command) {
    if (!pass.view().observes()) {
        const bool has_begun = co_await queue_.add(pass, std::move(command));
        co_return has_begun;
    }
    announcer_.say(kube::target_of(*command.member.node), kube::EventType::normal, "WouldRemove",
                   command.why + " and would be removed if the control plane's mode were Active");
    co_return true;
}

void DisruptionReconciler::say_what_stays(Pass& pass, const std::set<std::string>& chosen) {
    for (const auto& [name, kept] : pass.kept()) {
        if (chosen.contains(name)) continue;
        stays_[name] = {kept.kind, kept.blocker};
        pass.look_again_at(kept.blocker.until);
        if (!kept.is_news || !is_news(kept.blocker)) continue;
        announcer_.say(kube::target_of(*kept.member->node), kube::EventType::normal, "DisruptionBlocked",
                       std::string(name_of(kept.kind)) + ", but the node stays: " + kept.blocker.message);
    }
}

// ---- which changes in the cluster make it examine which pools
namespace {

// Returns the parts of a Node that decide whether it may be removed. Heartbeats are not among them.
auto essence(const api::Node& node) {
    return std::tie(node.spec, node.metadata.labels, node.metadata.annotations);
}

// Returns what forbids disruption: the provider answers for another cluster, or another operator owns its
// machines.
std::pair<std::string, bool> readiness(const NodeSmithProvider& provider) {
    const auto* ready = api::find_condition(provider.status.conditions, conditions::kReady);
    return {ready ? ready->reason : std::string(),
            api::is_true(provider.status.conditions, conditions::kOtherOperatorFound)};
}

auto offers(const NodeSmithProvider& provider) {
    return std::tie(provider.status.hosts, provider.status.templates);
}

bool is_healthy(const NodeSmithControlPlane& control_plane) {
    return api::is_true(control_plane.status.conditions, conditions::kClusterHealthy);
}

// Returns which pods a budget lets go, as far as the budget itself shows.
auto leniency(const api::PodDisruptionBudget& budget) {
    const auto& status = budget.status;
    const bool is_healthy = status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
    return std::tuple(status.disruptionsAllowed > 0, is_healthy, budget.spec.unhealthyPodEvictionPolicy);
}

kube::ObjectKey pool_of(const NodeSmithClaim& claim) {
    return {claim.metadata.namespace_, claim.spec.poolRef};
}

}  // namespace

void DisruptionReconciler::subscribe(kube::WorkQueue& queue) {
    const auto pools_on = [this](const std::string& node) {
        kube::Keys keys;
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, node))
            keys.push_back(pool_of(*claim));
        return keys;
    };
    stopped_.on_change([&queue](const kube::ObjectKey& pool) { queue.add(pool); });
    const auto all = [this](const auto&) { return kube::keys_of(informers_.pools.store()); };

    kube::watch(informers_.pods)
        .when([](const api::Pod& pod) { return !pod.spec.nodeName.empty() && is_drainable(pod); })
        .after(kBurst)
        .enqueue(queue, [pools_on](const api::Pod& pod) { return pools_on(pod.spec.nodeName); });
    // A pod that no longer waits may have kept an empty node.
    kube::watch(informers_.pods).flipped(is_unschedulable).enqueue(queue, all);

    kube::watch(informers_.nodes)
        .changed(is_ready, essence)
        .after(kBurst)
        .enqueue(queue, [pools_on](const api::Node& node) { return pools_on(node.metadata.name); });
    kube::watch(informers_.nodes).gone().call([this](const api::Node& node) {
        announcer_.settle(node.metadata.uid);
        stays_.erase(node.metadata.name);
    });

    kube::watch(informers_.persistent_volumes)
        .when([](const api::PersistentVolume& volume) { return !places_of(volume).empty(); })
        .changed(decides_on_volume)
        .after(kBurst)
        .enqueue(queue, all);
    kube::watch(informers_.persistent_volume_claims)
        .flipped([](const api::PersistentVolumeClaim& claim) { return says_disposable(claim.metadata); })
        .after(kBurst)
        .enqueue(queue, all);
    kube::watch(informers_.storage_classes)
        .flipped(
            [](const api::StorageClass& storage_class) { return says_disposable(storage_class.metadata); })
        .after(kBurst)
        .enqueue(queue, all);

    kube::watch(informers_.claims).enqueue(queue, pool_of);
    kube::watch(informers_.claims).gone().call([this](const NodeSmithClaim& claim) {
        refusals_.forget(claim.metadata.uid);
        stopped_.forget(claim.metadata.uid);
        queue_.forget(claim.metadata.uid);
    });

    kube::watch(informers_.pools).enqueue(queue);
    kube::watch(informers_.providers).changed(offers, readiness).enqueue(queue, all);
    kube::watch(informers_.hosts)
        .flipped([](const NodeSmithHost& host) { return host.spec.maintenance; })
        .enqueue(queue, all);
    kube::watch(informers_.control_planes)
        .changed(&NodeSmithControlPlane::spec, is_healthy)
        .enqueue(queue, all);
    kube::watch(informers_.pod_disruption_budgets).changed(leniency).enqueue(queue, all);
}

}  // namespace controllers::disruption
