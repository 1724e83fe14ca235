// Decides which node is next, and why the others are kept.
#include <algorithm>
#include <chrono>
#include <tuple>

#include "controllers/disruption/disruption_reconciler.hpp"
#include "controllers/disruption/methods/repair.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/series.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/prices.hpp"

namespace controllers::disruption {

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
                              "Further nodes that disruption.budgets and scaleDown.maxConcurrent allow to "
                              "remove, at the last decision about the pool",
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

}  // namespace controllers::disruption
