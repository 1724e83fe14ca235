#include "controllers/claim/decide/limit_hold.hpp"

#include <tuple>

#include "controllers/cache/membership.hpp"
#include "controllers/state/limits.hpp"

namespace controllers::claim {

namespace {

auto rank_of(const NodeSmithClaim& claim) {
    return std::tuple(claim.status.machineID.empty(), claim.metadata.creationTimestamp, api::key_of(claim));
}

// What the claims of the pool that go before this one use.
limits::Usage usage_before(const Informers& informers, const NodeSmithClaim& claim,
                           const NodeSmithPool& pool) {
    limits::Usage usage;
    for (const auto& other : informers.claims.store().by_index(kClaimsByPool, api::key_of(pool).str())) {
        if (limits::counts(*other) && rank_of(*other) < rank_of(claim))
            usage += limits::one_machine(limits::size_of(other->spec, &pool));
    }
    return usage;
}

Hold over_limit(const std::string& of, const limits::LimitHit& hit) {
    return {std::string(reasons::kLimitExceeded),
            "the limits of " + of + " leave no room any more: " + hit.message};
}

}  // namespace

std::optional<Hold> limit_hold(const Informers& informers, const NodeSmithClaim& claim,
                               const NodeSmithPool& pool) {
    if (!claim.status.machineID.empty() || !limits::is_admitted(claim)) return std::nullopt;
    const auto machine = limits::one_machine(limits::size_of(claim.spec, &pool));
    const auto limits = limits::limits_of(pool.spec);
    if (limits.any()) {
        if (const auto hit = limits::admits(limits, usage_before(informers, claim, pool), machine))
            return over_limit("pool " + pool.metadata.name, *hit);
    }
    const auto& control_planes = informers.control_planes.store().all();
    const auto* manager = manager_of(api::key_of(pool), control_planes);
    if (!manager || !limits::limits_of(manager->spec).any()) return std::nullopt;
    limits::Usage usage;
    for (const auto* other : pools_of(*manager, informers.pools.store().all(), control_planes))
        usage += usage_before(informers, claim, *other);
    if (const auto hit = limits::admits(limits::limits_of(manager->spec), usage, machine))
        return over_limit("control plane " + manager->metadata.name, *hit);
    return std::nullopt;
}

}  // namespace controllers::claim
