// What the stores know of a pool's nodes.
#include <algorithm>

#include "controllers/cache/membership.hpp"
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/disruption/reconciler.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/node_search.hpp"

namespace controllers::disruption {

using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithPool;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

namespace {

bool serves(const NodeSmithClaim& claim) {
    return is_staying(claim) && state_of(claim) == ClaimState::ready;
}

// Its machine cannot be removed: its host is down, it is not provably ours any more, ...
bool is_stuck(const NodeSmithClaim& claim) {
    const auto* deleted = api::find_condition(claim.status.conditions, conditions::kMachineDeleted);
    return deleted && deleted->status == api::ConditionStatus::False &&
           deleted->reason != reasons::kDeleting && deleted->reason != reasons::kRetained &&
           deleted->reason != reasons::kAttemptFailed && deleted->reason != reasons::kKept &&
           deleted->reason != claim::kStopping;
}

bool was_broken(const NodeSmithClaim& claim) {
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    return disrupted && disrupted->reason == reasons::kUnhealthy;
}

// Other pods may be put on it; an empty one is not counted on, it goes by itself.
bool takes_pods(const auto& member) {
    return serves(*member.claim) && is_ready(*member.node) && !member.node->spec.unschedulable &&
           member.evictable_pods > 0;
}

bool was_given_up(const api::Condition& disrupted) {
    return disrupted.status == api::ConditionStatus::False &&
           (disrupted.reason == reasons::kDrainTimeout || disrupted.reason == kReplacementTimeout);
}

// Why nodes on the claim's host shall leave; empty: they need not.
std::string evacuated(const Informers& informers, const NodeSmithClaim& claim, const NodeSmithPool& pool) {
    const auto& host = claim.status.host;
    if (host.empty()) return {};
    const auto provider =
        informers.providers.store().get({pool.metadata.namespace_, claim.status.providerRef});
    if (!provider) return {};
    const auto said = std::ranges::any_of(
        provider->status.hosts, [&](const auto& known) { return known.name == host && known.evacuating; });
    const auto physical = informers.hosts.store().get({pool.metadata.namespace_, host});
    const bool in_maintenance =
        physical && physical->spec.maintenance && physical->spec.providerRef == claim.status.providerRef;
    return said || in_maintenance ? "host " + host + " is being evacuated" : std::string();
}

}  // namespace

bool DisruptionReconciler::View::observes() const {
    return manager && manager->spec.mode == api::v1alpha1::Mode::Observe;
}

DisruptionReconciler::View DisruptionReconciler::look(PoolPointer pool) {
    View view;
    const auto key = api::key_of(*pool);
    const auto current = informers_.pools.store().get(key);
    view.pool = current ? current : pool;
    view.now = api::Time(clock_.wall_now());
    const auto provider = informers_.providers.store().get({key.namespace_, view.pool->spec.providerRef});
    if (provider) view.template_hash = hashes_.of(*view.pool, provider.get());
    const auto& control_planes = informers_.control_planes.store();
    if (const auto* manager = manager_of(key, control_planes.all())) {
        view.manager = control_planes.get(api::key_of(*manager));
        for (const auto* other : pools_of(*manager, informers_.pools.store().all(), control_planes.all()))
            view.manager_fleet +=
                fleet_of(*other, informers_.claims.store().by_index(kClaimsByPool, api::key_of(*other).str()),
                         informers_.nodes.store().all());
    }
    for (const auto& [name, budget] : informers_.pod_disruption_budgets.store().all())
        view.budgets.push_back(budget);
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByPool, key.str())) {
        count(view, *claim);
        const auto node = claim::noted_node(informers_, *claim);
        if (!node) continue;
        auto member = look_at_member(view, claim, node);
        view.use.add(member.use, takes_pods(member));
        view.members.push_back(std::move(member));
    }
    const auto* spare = api::find_condition(view.pool->status.conditions, kConsolidatable);
    if (spare && spare->status == api::ConditionStatus::True) view.spare_since = spare->lastTransitionTime;
    return view;
}

void DisruptionReconciler::count(View& view, const NodeSmithClaim& claim) const {
    const bool is_repaired = was_broken(claim) || is_power_cycling(claim);
    const bool is_leaving = claim.metadata.deletionTimestamp || under_way(claim) || is_power_cycling(claim);
    // The removal of a broken node disrupts nothing any more, so others need not wait for its end.
    if (is_leaving && !(is_repaired && is_stuck(claim))) {
        ++view.leaving;
        if (is_stuck(claim)) ++view.stuck;
        if (is_repaired) ++view.repairs;
    }
    if (serves(claim)) ++view.staying;
    if (is_coming(claim)) view.is_growing = true;
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    if (disrupted && was_given_up(*disrupted))
        view.last_failure = std::max(view.last_failure, disrupted->lastTransitionTime);
    if (!api::is_true(claim.status.conditions, conditions::kInitialized)) return;
    ++view.in_service;
    const auto* node = node_of(claim, informers_.nodes.store().all());
    if (!is_leaving && !(node && is_ready(*node))) ++view.not_ready;
}

DisruptionReconciler::Member DisruptionReconciler::look_at_member(const View& view, ClaimPointer claim,
                                                                  NodePointer node) const {
    Member member;
    member.pods = informers_.pods.store().by_index(kPodsByNode, node->metadata.name);
    member.evictable_pods =
        std::ranges::count_if(member.pods, [](const auto& pod) { return is_drainable(*pod); });
    member.use = use_of(*node, member.pods);
    member.evacuated = evacuated(informers_, *claim, *view.pool);
    member.drift = drift_of(*view.pool, view.template_hash, *claim, *node);
    const auto provider =
        informers_.providers.store().get({claim->metadata.namespace_, claim->status.providerRef});
    if (provider && member.drift.empty()) member.drift = template_drift(*provider, *claim);
    member.claim = std::move(claim);
    member.node = std::move(node);
    return member;
}

PoolFacts DisruptionReconciler::facts_of(const View& view) {
    PoolFacts facts{*view.pool};
    facts.manager = view.manager.get();
    facts.manager_fleet = view.manager_fleet;
    facts.in_service = view.in_service;
    facts.staying = view.staying;
    facts.leaving = view.leaving;
    facts.stuck = view.stuck;
    facts.repairs = view.repairs;
    facts.not_ready = view.not_ready;
    facts.last_failure = view.last_failure;
    if (view.manager) facts.removals_last_hour = removals_last_hour(api::key_of(*view.manager));
    return facts;
}

NodeFacts DisruptionReconciler::facts_of(const View& view, const Member& member) const {
    NodeFacts facts{*view.pool, *member.claim, *member.node};
    facts.evictable_pods = member.evictable_pods;
    facts.utilization_percent = utilization_percent(member.use);
    const auto& status = member.claim->status;
    const auto known = reports_.use_of(*member.claim);
    facts.empty_since = known ? known->empty_since : status.emptySince;
    facts.unneeded_since = known ? known->unneeded_since : status.unneededSince;
    facts.empty_since = empty_since(facts, view.now);
    facts.unneeded_since = unneeded_since(facts, view.now);
    facts.spare_since = view.spare_since;
    const auto headroom = view.pool->spec.scaleDown.headroomPercent;
    if (under_way(*member.claim) == Kind::Underutilized) {
        // The pool's condition speaks of those that stay; this one was to spare for long enough already.
        facts.spare_since.reset();
        if (view.use.fits(headroom)) facts.spare_since.emplace();
    } else if (!view.use.fits_without(member.use, headroom)) {
        facts.spare_since.reset();  // a smaller one would be to spare
    }
    facts.evacuated = member.evacuated;
    facts.drift = member.drift;
    const auto seen = switched_off_.find(member.claim->metadata.uid);
    facts.machine_stopped = seen != switched_off_.end() && seen->second;
    return facts;
}

std::optional<std::size_t> DisruptionReconciler::place_in_world(Pass& pass, const Member& member) {
    if (!pass.world) {
        pass.world = std::make_shared<provisioning::World>(look_at_world_());
        const auto& nodes = pass.world->snapshot.nodes;
        for (std::size_t i = 0; i < nodes.size(); ++i) pass.places[nodes[i].node->metadata.name] = i;
    }
    const auto place = pass.places.find(member.node->metadata.name);
    return place == pass.places.end() ? std::nullopt : std::optional(place->second);
}

}  // namespace controllers::disruption
