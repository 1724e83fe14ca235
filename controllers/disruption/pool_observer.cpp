#include "controllers/disruption/pool_observer.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/facts/removal_rate.hpp"
#include "controllers/disruption/rules/drift_reasons.hpp"
#include "controllers/disruption/rules/idleness.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/prices.hpp"

namespace controllers::disruption {

namespace {

bool serves(const NodeSmithClaim& claim) {
    return is_staying(claim) && state_of(claim) == ClaimState::ready;
}

// Reports whether the machine's removal is stuck. Its host may be down, or nothing
// proves any longer that it is ours.
bool is_stuck(const NodeSmithClaim& claim) {
    const auto* deleted = api::find_condition(claim.status.conditions, conditions::kMachineDeleted);
    return deleted && deleted->status == ConditionStatus::False && deleted->reason != reasons::kDeleting &&
           deleted->reason != reasons::kRetained && deleted->reason != reasons::kAttemptFailed &&
           deleted->reason != reasons::kKept && deleted->reason != claim::kStopping;
}

bool was_broken(const NodeSmithClaim& claim) {
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    return disrupted && disrupted->reason == reasons::kUnhealthy;
}

// Reports whether pods of other nodes may be placed on the member's node. An empty node does not count,
// because it will be removed.
bool takes_pods(const Member& member) {
    return serves(*member.claim) && is_ready(*member.node) && !member.node->spec.unschedulable &&
           member.facts.evictable_pods > 0;
}

// Returns why nodes on the claim's host should be removed; empty: they need not be.
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

PoolView PoolObserver::observe(const PoolView::Pool& pool) {
    const auto key = api::key_of(*pool);
    const auto current = informers_.pools.store().get(key);
    PoolView view(current ? current : pool);
    view.now = api::Time(clock_.wall_now());
    look_at_manager(view);
    for (const auto& [name, budget] : informers_.pod_disruption_budgets.store().all())
        view.budgets.push_back(budget);
    const auto provider = informers_.providers.store().get({key.namespace_, view.pool->spec.providerRef});
    const auto template_hash = provider ? hashes_.of(*view.pool, provider.get()) : std::string();
    view.provider = provider;
    view.facts.provider = provider.get();
    view.facts.stale_kinds = informers_.stale_kinds();
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByPool, key.str())) {
        count(view, *claim);
        const auto node = claim::noted_node(informers_, *claim);
        if (!node) continue;
        auto member = look_at_member(view, template_hash, claim, node);
        view.use.add(member.use, takes_pods(member));
        view.members.push_back(std::move(member));
    }
    note_spare(view);
    return view;
}

void PoolObserver::look_at_manager(PoolView& view) {
    const auto& control_planes = informers_.control_planes.store();
    const auto* manager = manager_of(api::key_of(*view.pool), control_planes.all());
    if (!manager) return;
    view.manager = control_planes.get(api::key_of(*manager));
    view.facts.manager = view.manager.get();
    for (const auto* other : pools_of(*manager, informers_.pools.store().all(), control_planes.all())) {
        const auto claims = informers_.claims.store().by_index(kClaimsByPool, api::key_of(*other).str());
        view.facts.manager_counts += counts_of(*other, claims, informers_.nodes.store().all());
        view.facts.removals_last_hour += removals_last_hour(*other, claims, *manager, view.now);
    }
}

void PoolObserver::count(PoolView& view, const NodeSmithClaim& claim) const {
    auto& facts = view.facts;
    // A kept machine may stay for long, and nothing waits for its end.
    if (is_kept_for_volumes(claim) && !claim.metadata.deletionTimestamp) {
        ++facts.kept;
        return;
    }
    const bool is_repaired = was_broken(claim) || is_power_cycling(claim);
    const bool goes = claim.metadata.deletionTimestamp || under_way(claim) || is_power_cycling(claim);
    // The removal of a broken node disrupts nothing any longer, so other nodes need not wait for its end. The
    // same holds for a machine that is gone, whose Node others may keep for long.
    const bool is_over = api::is_true(claim.status.conditions, conditions::kMachineDeleted);
    if (goes && !is_over && !(is_repaired && is_stuck(claim))) {
        ++facts.leaving;
        if (is_stuck(claim)) ++facts.stuck;
        if (is_repaired) ++facts.repairs;
    }
    if (serves(claim)) ++facts.staying;
    if (is_coming(claim)) view.is_growing = true;
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    // A failed drain keeps its own node only. The pods that block it say nothing about other nodes.
    if (disrupted && disrupted->status == ConditionStatus::False && disrupted->reason == kReplacementTimeout)
        facts.last_failure = std::max(facts.last_failure, disrupted->lastTransitionTime);
    if (is_over || !api::is_true(claim.status.conditions, conditions::kInitialized)) return;
    ++facts.in_service;
    const auto* node = node_of(claim, informers_.nodes.store().all());
    if (!goes && !(node && is_ready(*node))) ++facts.not_ready;
}

Member PoolObserver::look_at_member(const PoolView& view, const std::string& template_hash,
                                    ClaimPointer claim, NodePointer node) const {
    Member member{claim,
                  node,
                  {},
                  {},
                  local_volumes_of(informers_, *claim, node.get()),
                  {},
                  {*view.pool, *claim, *node}};
    const auto holding = held_among(member.volumes, view.pool.get(), *claim);
    member.tied_pods = pods_tied_to(informers_, node->metadata.name, holding);
    auto& facts = member.facts;
    member.pods = informers_.pods.store().by_index(kPodsByNode, node->metadata.name);
    member.use = use_of(*node, member.pods);
    facts.held_volumes = named(holding);
    facts.evictable_pods =
        std::ranges::count_if(member.pods, [](const auto& pod) { return is_drainable(*pod); });
    facts.utilization_percent = utilization_percent(member.use);
    facts.price_percent = price_percent(member.use, size_of(*node), prices_of(*view.pool));
    facts.evacuated = evacuated(informers_, *claim, *view.pool);
    const auto host = informers_.hosts.store().get({claim->metadata.namespace_, claim->status.host});
    facts.awaits_taint =
        !claim::temporary_taints({*claim, *node, view.pool.get(), host ? &host->spec : nullptr}, view.now)
             .empty();
    const auto unreadable = informers_.pods.undecodable().any_on(node->metadata.name);
    if (unreadable) facts.unreadable_pod = unreadable->str();
    facts.machine_stopped = stopped_ && stopped_->contains(claim->metadata.uid);
    facts.template_hash = template_hash;
    facts.drift = drift_of(template_hash, *claim);
    facts.drift_cause = template_hash;
    const auto provider =
        informers_.providers.store().get({claim->metadata.namespace_, claim->status.providerRef});
    if (provider && facts.drift.empty()) {
        facts.drift = template_drift(*provider, *claim);
        facts.drift_cause = present_templates(*provider);
    }
    if (const auto asked = replacement_asked(*claim); !asked.empty()) {
        facts.drift = "a person asks for another machine in its place (annotation " +
                      std::string(api::annotations::kReplace) + ")";
        facts.drift_cause = "asked/" + asked;
    }
    const auto known = reports_.use_of(*claim);
    facts.empty_since = known ? known->empty_since : claim->status.emptySince;
    facts.unneeded_since = known ? known->unneeded_since : claim->status.unneededSince;
    facts.empty_since = empty_since(facts, view.now);
    facts.unneeded_since = unneeded_since(facts, view.now);
    return member;
}

// Records since when fewer nodes of the member's size would suffice.
void PoolObserver::note_spare(PoolView& view) {
    std::optional<api::Time> spare_since;
    const auto* spare = api::find_condition(view.pool->status.conditions, kConsolidatable);
    if (spare && spare->status == ConditionStatus::True) spare_since = spare->lastTransitionTime;
    const auto headroom = view.pool->spec.scaleDown.headroomPercent;
    for (auto& member : view.members) {
        if (under_way(*member.claim) == Kind::Underutilized) {
            // The pool's condition describes the nodes that are kept. This node was
            // superfluous for long enough already.
            if (view.use.fits(headroom)) member.facts.spare_since.emplace();
        } else if (view.use.fits_without(member.use, headroom)) {
            member.facts.spare_since = spare_since;
        }
    }
}

}  // namespace controllers::disruption
