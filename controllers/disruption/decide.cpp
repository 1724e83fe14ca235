// Which node is next, and why the others stay.
#include <algorithm>
#include <tuple>

#include "api/v1alpha1/machine_cost.hpp"
#include "base/text.hpp"
#include "controllers/disruption/reconciler.hpp"
#include "controllers/disruption/waits.hpp"
#include "controllers/state/disruption_state.hpp"

namespace controllers::disruption {

namespace {

// What a simulation refused is not tried again before, whatever else changes: nothing here is urgent.
constexpr base::Duration kRefusalLasts = std::chrono::minutes{5};
// Nodes that are judged one by one have their turn in batches.
constexpr base::Duration kNextBatch = std::chrono::seconds{10};

// A pod that was evicted is counted nowhere until its controller has made another and that is seen here. A
// node that looks empty meanwhile may be the one that it goes to.
constexpr base::Duration kSuccessorsKnown = std::chrono::seconds{10};

std::int64_t cost_of(const api::Node& node) {
    const auto size = size_of(node);
    return api::v1alpha1::cost_in_mib(size.cpuCores, size.memoryMiB);
}

// That a node has just become empty is no news, nor that others go before it.
bool is_news(const Blocker& why) {
    return why.reason != "EmptyGracePeriod" && why.reason != "MaxConcurrent";
}

// By its policy, or because hosts that would fit better have failed, or are on and so come first.
bool may_give_a_larger_host(const Informers& informers, const kube::ObjectKey& key) {
    const auto pool = informers.pools.store().get(key);
    if (!pool) return false;
    const auto provider = informers.providers.store().get({key.namespace_, pool->spec.providerRef});
    if (!provider || !provider->spec.redfish) return false;
    if (provider->spec.redfish->selection != api::v1alpha1::HostSelection::BestFit) return true;
    const auto hosts = informers.hosts.store().by_index(kHostsByProvider, api::key_of(*provider).str());
    return std::ranges::any_of(hosts, [](const auto& host) {
        const auto& status = host->status;
        return !status.claimRef && (status.failures > 0 || status.powerState == "On");
    });
}

}  // namespace

asio::awaitable<void> DisruptionReconciler::decide(Pass& pass) {
    const auto choices = choose(pass);
    for (const auto& choice : choices) {
        if (pass.view.observes()) {
            announcer_.say(
                kube::target_of(*choice.member.node), kube::EventType::normal, "WouldRemove",
                choice.candidacy.why + " and would be removed if the control plane's mode were Active");
            continue;
        }
        if (choice.candidacy.kind == Kind::Unhealthy && has_a_second_chance(pass.view, choice.member)) {
            begin_power_cycle(choice.member);
            continue;
        }
        co_await begin(choice);
        pass.again = base::Duration::zero();
    }
}

std::vector<DisruptionReconciler::Choice> DisruptionReconciler::choose(Pass& pass) {
    struct Entry {
        int rank;
        double utilization;
        std::optional<api::Time> empty_since;
        const Member* member;
        Candidacies candidacies;
    };
    std::vector<Entry> queue;
    for (const auto& member : pass.view.members) {
        const auto& claim = *member.claim;
        if (!is_staying(claim) || loses_machine(claim) || is_power_cycling(claim)) continue;
        const auto facts = facts_of(pass.view, member);
        auto found = candidacies(facts, pass.view.now);
        pass.again = sooner(pass.again, until(found.look_again, pass.view.now));
        if (found.list.empty()) {
            stays_.erase(member.node->metadata.name);
            continue;
        }
        queue.push_back({rank(found.list.front().kind), facts.utilization_percent, facts.empty_since, &member,
                         std::move(found)});
    }
    const auto order = [](const Entry& entry) {
        const auto& member = *entry.member;
        return std::tuple(entry.rank, entry.utilization, -cost_of(*member.node), entry.empty_since,
                          member.claim->metadata.name);
    };
    std::ranges::sort(queue, [&order](const Entry& a, const Entry& b) { return order(a) < order(b); });
    std::vector<Choice> observed;
    std::vector<Choice> idle;
    for (const auto& entry : queue) {
        auto choice = consider(pass, *entry.member, entry.candidacies);
        if (!choice) continue;
        if (choice->candidacy.kind == Kind::Underutilized) {
            idle.push_back(std::move(*choice));
            continue;
        }
        if (!pass.view.observes()) return {std::move(*choice)};
        observed.push_back(std::move(*choice));
    }
    if (!observed.empty() || idle.empty()) return observed;
    return consolidate(pass, idle);
}

std::optional<base::Duration> DisruptionReconciler::successors_known_in() const {
    const auto evicted_at = drainer_.evicted_at();
    if (!evicted_at || *evicted_at + kSuccessorsKnown <= clock_.now()) return std::nullopt;
    return *evicted_at + kSuccessorsKnown - clock_.now();
}

std::optional<DisruptionReconciler::Choice> DisruptionReconciler::consider(Pass& pass, const Member& member,
                                                                           const Candidacies& candidacies) {
    std::optional<std::pair<Kind, Blocker>> first;
    for (const auto& candidacy : candidacies.list) {
        if (const auto wait = successors_known_in(); wait && is_scale_down(candidacy.kind)) {
            pass.again = sooner(pass.again, wait);
            continue;
        }
        std::string plan;
        const auto why = judge(pass, member, candidacy.kind, plan);
        if (!why) {
            if (candidacy.kind != Kind::Underutilized) stays_.erase(member.node->metadata.name);
            const bool is_busy = !is_hardly_used(facts_of(pass.view, member), pass.view.now);
            return Choice{member, candidacy, plan, is_busy};
        }
        if (!first) first.emplace(candidacy.kind, *why);
    }
    if (first) say_stay(pass, member, first->first, first->second);
    return std::nullopt;
}

PodRules DisruptionReconciler::pod_rules(const View& view, const Member& member, Kind kind,
                                         bool all_at_once) {
    PodRules rules{kind, view.budgets};
    rules.has_deadline = member.claim->spec.terminationGracePeriod.has_value();
    rules.all_at_once = all_at_once;
    const auto& scale_down = view.pool->spec.scaleDown;
    if (scale_down.drainTimeoutAction == api::v1alpha1::DrainTimeoutAction::Abort)
        rules.given_up_after = scale_down.drainTimeout;
    return rules;
}

// The cheap reasons first; whether underutilized nodes can go is judged for all of them together.
std::optional<Blocker> DisruptionReconciler::judge(Pass& pass, const Member& member, Kind kind,
                                                   std::string& plan) {
    const auto& view = pass.view;
    const auto facts = facts_of(view);
    if (auto why = node_blocker(facts, facts_of(view, member), kind, view.now)) return why;
    if (auto why = pod_blocker(member.pods, pod_rules(view, member, kind), view.now)) return why;
    if (auto why = pool_blocker(facts, kind, view.now)) return why;
    if (kind == Kind::Unhealthy || kind == Kind::Underutilized) return std::nullopt;

    if (const auto* refusal = refusal_of(pass, member, kind))
        return Blocker{"Needed", refusal->message, std::nullopt};
    const auto place = place_in_world(pass, member);
    if (!place) return std::nullopt;
    const auto verdict = judge_departure(solver_, pass.world->snapshot, {kind, {*place}});
    plan = verdict.message;
    if (verdict.outlook == Outlook::drain_first)
        return pod_blocker(member.pods, pod_rules(view, member, kind, true), view.now);
    if (verdict.outlook == Outlook::clear || verdict.outlook == Outlook::wait) return std::nullopt;
    // What keeps an empty node may be gone with the next event.
    if (kind != Kind::Empty) refused_[member.claim->metadata.uid] = {kind, clock_.now(), verdict.message};
    return Blocker{"Needed", verdict.message, std::nullopt};
}

const DisruptionReconciler::Refusal* DisruptionReconciler::refusal_of(Pass& pass, const Member& member,
                                                                      Kind kind) const {
    const auto refused = refused_.find(member.claim->metadata.uid);
    if (refused == refused_.end() || refused->second.kind != kind ||
        refused->second.at + kRefusalLasts <= clock_.now())
        return nullptr;
    pass.again = sooner(pass.again, refused->second.at + kRefusalLasts - clock_.now());
    return &refused->second;
}

std::size_t DisruptionReconciler::how_many_may_begin(const View& view, Kind kind) {
    constexpr std::size_t kMost = 100;
    auto facts = facts_of(view);
    std::size_t count = 0;
    for (; count < kMost && !pool_blocker(facts, kind, view.now); ++count) {
        ++facts.leaving;
        ++facts.removals_last_hour;
    }
    return count;
}

std::vector<DisruptionReconciler::Choice> DisruptionReconciler::consolidate(Pass& pass,
                                                                            const std::vector<Choice>& idle) {
    const auto& view = pass.view;
    Search search;
    std::map<std::size_t, const Choice*> choices;
    // Each node that is in use is to spare for the pool alone, but not with any number of others.
    auto rest = view.use;
    std::size_t together = 0;
    for (const auto& choice : idle) {
        if (refusal_of(pass, choice.member, Kind::Underutilized)) continue;
        const auto place = place_in_world(pass, choice.member);
        if (!place) continue;
        rest.lose(choice.member.use);
        const bool may_join = !choice.is_busy || rest.fits(view.pool->spec.scaleDown.headroomPercent);
        if (may_join && together == search.candidates.size()) ++together;
        search.candidates.push_back(*place);
        if (choice.is_busy) search.busy.insert(*place);
        choices.emplace(*place, &choice);
    }
    // What is coming may be what is missing; it changes the view when it is there.
    if (search.candidates.empty() || view.is_growing) return {};
    const auto& pools = pass.world->snapshot.pools;
    for (std::size_t i = 0; i < pools.size(); ++i)
        if (may_give_a_larger_host(informers_, {pools[i].namespace_, pools[i].name}))
            search.generous_pools.insert(i);
    // Pods for which nothing is bought now, as it did not help, would take a new machine from those it is
    // for.
    const auto waiting = informers_.pods.store().by_index(kPodsUnschedulable, "true").size();
    if (waiting > pass.world->snapshot.pods.size())
        search.busy.insert(search.candidates.begin(), search.candidates.end());
    search.exhausted = pass.world->exhausted;
    search.most_nodes = std::min(together, how_many_may_begin(view, Kind::Underutilized));
    search.headroom_percent = view.pool->spec.scaleDown.headroomPercent;
    scheduling::Removals removals(solver_, pass.world->snapshot);
    const auto found = find_consolidation(removals, pass.world->snapshot, search);

    for (const auto& [node, why] : found.refused) refuse(pass, *choices.at(node), why);
    if (found.nodes.empty()) {
        const bool any_left = search.candidates.size() > found.refused.size();
        pass.again = sooner(pass.again, any_left ? kNextBatch : kRefusalLasts);
    }
    std::vector<Choice> going;
    const auto bought = found.removal.replacements.size();
    for (const auto node : found.nodes) {
        auto choice = *choices.at(node);
        stays_.erase(choice.member.node->metadata.name);
        choice.plan = bought == 0 ? "its pods fit on other nodes"
                                  : "a smaller machine takes the pods of " +
                                        base::counted(std::ssize(found.nodes), "node");
        going.push_back(std::move(choice));
    }
    return going;
}

// That a node which is in use is not to spare is no news.
void DisruptionReconciler::refuse(Pass& pass, const Choice& choice, const std::string& why) {
    refused_[choice.member.claim->metadata.uid] = {Kind::Underutilized, clock_.now(), why};
    const Blocker blocker{"Needed", why, std::nullopt};
    if (choice.is_busy)
        stays_[choice.member.node->metadata.name] = {Kind::Underutilized, blocker};
    else
        say_stay(pass, choice.member, Kind::Underutilized, blocker);
}

void DisruptionReconciler::say_stay(Pass& pass, const Member& member, Kind kind, const Blocker& why) {
    pass.again = sooner(pass.again, until(why.until, pass.view.now));
    stays_[member.node->metadata.name] = {kind, why};
    if (!is_news(why)) return;
    announcer_.say(kube::target_of(*member.node), kube::EventType::normal, "DisruptionBlocked",
                   std::string(name_of(kind)) + ", but the node stays: " + why.message);
}

asio::awaitable<void> DisruptionReconciler::begin(Choice choice) {
    const auto kind = std::string(name_of(choice.candidacy.kind));
    auto message = choice.candidacy.why;
    if (!choice.plan.empty() && choice.candidacy.kind != Kind::Empty) message += "; " + choice.plan;
    co_await set_disrupted(choice.member.claim, api::ConditionStatus::True, kind, message);
    events_.event(kube::target_of(*choice.member.node), kube::EventType::normal, "Disrupting",
                  kind + ": " + message);
}

}  // namespace controllers::disruption
