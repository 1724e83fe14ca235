#include "controllers/disruption/methods/expiration.hpp"

#include "controllers/state/claim_state.hpp"

namespace controllers::disruption {

Candidacy Expiration::find(const NodeFacts& facts, api::Time now) const {
    const auto& own = facts.claim.spec.expireAfter;
    const bool is_pools = claim::is_owned_by_pool(facts.claim) || !own;
    const auto& wish = is_pools ? facts.pool.spec.disruption.expireAfter : *own;
    if (!wish.duration || wish.duration->value <= std::chrono::nanoseconds{0}) return {};
    if (const auto end = end_of(facts.claim.metadata.creationTimestamp, *wish.duration, now))
        return {"", end};
    return {"the node is older than " + wish.duration->str() + " (disruption.expireAfter)", std::nullopt};
}

}  // namespace controllers::disruption
