#include "controllers/disruption/methods/consolidation.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/consolidation_search.hpp"
#include "controllers/disruption/rules/idleness.hpp"
#include "controllers/disruption/rules/series.hpp"
#include "scheduling/removal.hpp"

namespace controllers::disruption {

namespace {

// Nodes that are judged one by one have their turn in batches.
constexpr base::Duration kNextBatch = std::chrono::seconds{10};

// Reports whether a launch may get a larger host than needed. That may be the policy, or better hosts have
// failed or come later because they are off.
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

std::size_t how_many_may_begin(const PoolView& view, Kind kind) {
    constexpr std::size_t kMost = 100;
    auto facts = view.facts;
    std::size_t count = 0;
    for (; count < kMost && !pool_blocker(facts, kind, view.now); ++count) {
        ++facts.leaving;
        ++facts.removals_last_hour;
    }
    return count;
}

// Reports whether the node is in use: then the pool is underutilized, not the node.
bool is_busy(const Candidate& candidate, api::Time now) {
    return !is_unneeded(candidate.member->facts, now);
}

// Question holds a search and the candidates that it is about.
struct Question {
    Search search;
    std::map<std::size_t, const Candidate*> candidates;  // by index in the snapshot
};

Question question(Pass& pass, const std::vector<Candidate>& candidates) {
    const auto& view = pass.view();
    const auto headroom = view.pool->spec.scaleDown.headroomPercent;
    Question asked;
    auto& search = asked.search;
    // Each node in use is superfluous by itself, but not together with any number of others.
    auto rest = view.use;
    std::size_t together = 0;
    for (const auto& candidate : candidates) {
        if (pass.refusal_of(*candidate.member, Kind::Underutilized)) continue;
        const auto place = pass.place_of(*candidate.member);
        if (!place) continue;
        const bool busy = is_busy(candidate, view.now);
        rest.lose(candidate.member->use);
        const bool may_join = !busy || rest.fits(headroom);
        if (may_join && together == search.candidates.size()) ++together;
        search.candidates.push_back(*place);
        const bool was_replaced =
            series_blocker(candidate.member->facts, Kind::Underutilized, view.now).has_value();
        if (busy || was_replaced) search.busy.insert(*place);
        asked.candidates.emplace(*place, &candidate);
    }
    search.most_nodes = std::min(together, how_many_may_begin(view, Kind::Underutilized));
    search.headroom_percent = headroom;
    return asked;
}

// Reports whether the node is empty and was not judged as such yet. It may be empty for too short a time, or
// in service for too short a time.
bool may_go_empty(const NodeFacts& facts, api::Time now) {
    if (facts.evictable_pods > 0) return false;
    return !facts.empty_since || end_of(facts.empty_since, facts.pool.spec.scaleDown.emptyGracePeriod, now);
}

void look_at_world(Pass& pass, Search& search) {
    const auto& world = pass.world();
    for (const auto& member : pass.view().members) {
        const auto place = pass.place_of(member);
        if (place && may_go_empty(member.facts, pass.view().now)) search.emptied.insert(*place);
    }
    const auto& pools = world.snapshot.pools;
    for (std::size_t i = 0; i < pools.size(); ++i)
        if (may_give_a_larger_host(pass.informers(), {pools[i].namespace_, pools[i].name}))
            search.generous_pools.insert(i);
    // Some pods wait because launching for them did not help; they would take a new machine from its intended
    // pods. If machines were unavailable, nodes are not taken out of service just to see that again.
    const auto waiting = unschedulable_pods(pass.informers()).size();
    if (waiting > world.snapshot.pods.size() || !may_replace(*pass.view().pool, pass.view().now))
        search.busy.insert(search.candidates.begin(), search.candidates.end());
    search.exhausted = world.exhausted;
}

// Records why the node is kept. It deserves no Event that a node in use cannot be
// removed or replaced more cheaply.
void refuse(Pass& pass, const Candidate& candidate, const std::string& why) {
    pass.refuse(*candidate.member, Kind::Underutilized, why);
    pass.keep(*candidate.member, Kind::Underutilized, {"Needed", why, std::nullopt},
              !is_busy(candidate, pass.view().now) && is_hardly_used(candidate.member->facts));
}

std::string why_unneeded(const NodeFacts& facts) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    if (!is_hardly_used(facts) && is_overpriced(facts))
        return "the requests of its pods have been worth less than " +
               std::to_string(scale_down.priceThresholdPercent) + " % of the node's price since " +
               facts.unneeded_since->str();
    return "less than " + std::to_string(scale_down.utilizationThresholdPercent) +
           " % of the node has been in use since " + facts.unneeded_since->str();
}

std::string replacement_of(std::size_t nodes, std::size_t machines) {
    const auto counted = base::counted(static_cast<std::int64_t>(nodes), "node");
    if (machines == 1) return "a smaller machine takes the pods of " + counted;
    return std::to_string(machines) + " cheaper machines take the pods of " + counted;
}

}  // namespace

Candidacy find_underutilized(const NodeFacts& facts, api::Time now) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    const bool is_wanted = scale_down.policy == api::v1alpha1::ScaleDownPolicy::WhenEmptyOrUnderutilized;
    if (!is_wanted || facts.evictable_pods == 0) return {};
    if (is_unneeded(facts, now)) return {why_unneeded(facts), std::nullopt};
    const auto spare_at = end_of(facts.spare_since, scale_down.unneededDuration, now);
    if (facts.spare_since && !spare_at) return {"the pods of the pool need fewer nodes", std::nullopt};
    const auto unneeded_at = end_of(facts.unneeded_since, scale_down.unneededDuration, now);
    if (!spare_at || !unneeded_at) return {"", spare_at ? spare_at : unneeded_at};
    return {"", std::min(spare_at, unneeded_at)};
}

std::vector<Command> judge_underutilized(Pass& pass, Kind kind, const std::vector<Candidate>& candidates) {
    auto [search, asked] = question(pass, candidates);
    // Machines that are being created may provide the missing room. The view changes when they are ready.
    if (search.candidates.empty() || pass.view().is_growing) return {};
    look_at_world(pass, search);
    auto snapshot = pass.world().snapshot;
    // Saving a node does not justify restoring a database's data.
    snapshot.tied_pods.clear();
    scheduling::Removals removals(pass.solver(), snapshot);
    const auto found = find_consolidation(removals, snapshot, search);

    for (const auto& [node, why] : found.refused) refuse(pass, *asked.at(node), why);
    if (found.nodes.empty()) {
        const bool any_left = search.candidates.size() > found.refused.size();
        pass.look_again(any_left ? kNextBatch : Refusals::kLasts);
    }
    const auto machines = found.removal.replacements.size();
    const auto plan =
        machines == 0 ? "its pods fit on other nodes" : replacement_of(found.nodes.size(), machines);
    std::vector<Command> commands;
    for (const auto node : found.nodes) {
        const auto& candidate = *asked.at(node);
        Command command{*candidate.member, kind, candidate.why, plan};
        command.is_replaced = machines > 0;
        commands.push_back(std::move(command));
    }
    return commands;
}

}  // namespace controllers::disruption
