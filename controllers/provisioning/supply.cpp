#include "controllers/provisioning/supply.hpp"

#include <algorithm>

#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/provisioning/expected_node.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/state/failure_pause.hpp"
#include "controllers/state/losses.hpp"

namespace controllers::provisioning {

namespace {

struct ManagerView {
    PoolCounts counts;
    limits::LimitUse limit_use;
    std::int64_t creations = 0;
};

ClaimPointers claims_of(const Informers& informers, const kube::ObjectKey& pool) {
    return informers.claims.store().by_index(kClaimsByPool, pool.str());
}

// Returns the pool with the latest failures and losses. The pool's own status shows them a moment later, when
// another machine would have been launched already.
NodeSmithPool with_latest(const NodeSmithPool& pool, const ClaimPointers& claims, const Informers& informers,
                          api::Time now) {
    auto counted = pool;
    PoolObservation seen{pool, claims, informers.nodes.store().all()};
    seen.manager = manager_of(api::key_of(pool), informers.control_planes.store().all());
    const auto provider = informers.providers.store().get({pool.metadata.namespace_, pool.spec.providerRef});
    seen.provider = provider.get();
    seen.others_joined = joined_of_others(informers, pool);
    count_failures(seen, counted.status);
    if (!counted.status.lastScaleFailureTime) counted.status = pool.status;
    count_losses(pool, claims, counted.status, now);
    counted.status.undeclaredTaints = learn_taints(pool, claims, now);
    return counted;
}

std::int64_t number_of(const ClaimPointers& under_way, const NodeSmithPool& pool) {
    return std::ranges::count_if(under_way, [&pool](const auto& claim) {
        return claim->metadata.namespace_ == pool.metadata.namespace_ &&
               claim->spec.poolRef == pool.metadata.name;
    });
}

// Returns which claim gets no certificate, and why. Empty: none is refused one. A failed claim has given up.
std::string without_certificate(const ClaimPointers& claims) {
    for (const auto& claim : claims) {
        if (claim->metadata.deletionTimestamp || claim::is_true(*claim, conditions::kFailed)) continue;
        if (const auto* refused = refused_certificate(*claim))
            return "claim " + claim->metadata.name + ": " + refused->message;
    }
    return {};
}

ManagerView view_of(const NodeSmithControlPlane& manager, const Informers& informers,
                    const Reservations& reservations, const ClaimPointers& under_way, api::Time now) {
    ManagerView view;
    const auto& pools = informers.pools.store().all();
    for (const auto* pool : pools_of(manager, pools, informers.control_planes.store().all())) {
        const auto claims = claims_of(informers, api::key_of(*pool));
        view.counts += counts_of(*pool, claims, informers.nodes.store().all());
        view.creations += creations_last_hour(*pool, claims, now) + number_of(under_way, *pool);
    }
    view.limit_use = reservations.use_of_control_plane(manager);
    return view;
}

}  // namespace

std::vector<PoolSupply> look_at_pools(const Informers& informers, const Reservations& reservations,
                                      const ClaimPointers& under_way, api::Time now) {
    std::map<kube::ObjectKey, ManagerView> managers;
    std::vector<PoolSupply> supplies;
    const auto& pools = informers.pools.store().all();
    for (const auto& [key, pool] : pools) {
        PoolSupply supply;
        supply.pool = pool;
        supply.limit_use = reservations.use_of_pool(*pool);
        const auto claims = claims_of(informers, key);
        const auto judged = with_latest(*pool, claims, informers, now);
        supply.undeclared_taints = judged.status.undeclaredTaints;
        GateFacts facts{judged};
        facts.manager = manager_of(key, informers.control_planes.store().all());
        const auto provider = informers.providers.store().get({key.namespace_, pool->spec.providerRef});
        facts.provider = provider.get();
        facts.label_conflict = label_conflict(*pool, pools);
        facts.counts = counts_of(*pool, claims, informers.nodes.store().all());
        facts.counts.pending_nodes += number_of(under_way, *pool);
        facts.unknown_until = reservations.unknown_until(*pool);
        facts.refusals = supply.refusals = reservations.refusals().pauses_of(*pool);
        if (!facts.refusals.empty()) {
            facts.refused_until = reservations.refusals().next_try(*pool, now);
            supply.refused_until = facts.refused_until;
        }
        facts.without_certificate = without_certificate(claims);
        facts.probe = probe_of(judged, claims, now);
        facts.trial = trial_of(judged, claims, now);
        facts.under_way = number_of(under_way, *pool);
        if (judged.status.nextRetryTime)
            facts.last_failure = note_on_refusals(judged.status) + last_failure(claims);
        if (facts.manager) {
            supply.manager = api::key_of(*facts.manager);
            auto known = managers.find(supply.manager);
            if (known == managers.end())
                known = managers
                            .emplace(supply.manager,
                                     view_of(*facts.manager, informers, reservations, under_way, now))
                            .first;
            facts.manager_counts = known->second.counts;
            facts.creations_last_hour = known->second.creations;
            supply.manager_limit_use = known->second.limit_use;
            if (const auto most = facts.manager->spec.rateLimits.maxCreationsPerHour; most > 0)
                supply.manager_creations_left = std::max<std::int64_t>(0, most - facts.creations_last_hour);
        }
        supply.gate = gate_of(facts, now);
        supplies.push_back(std::move(supply));
    }
    return supplies;
}

}  // namespace controllers::provisioning
