#include "controllers/disruption/rules/idleness.hpp"

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/disruption/facts/blocker.hpp"

namespace controllers::disruption {

namespace {

constexpr std::chrono::seconds kSettlingIn{5};

// Reports whether the node may count as empty or unneeded. It must be in service, and not just since now.
bool may_be_idle(const NodeFacts& facts, api::Time now) {
    return state_of(facts.claim) == ClaimState::ready && !facts.awaits_taint &&
           api::is_true(facts.claim.status.conditions, conditions::kInitialized) && !settles_in(facts, now);
}

}  // namespace

std::optional<base::Duration> settles_in(const NodeFacts& facts, api::Time now) {
    const auto ready = claim::since(facts.claim.status, conditions::kReady);
    if (!ready || !claim::is_true(facts.claim, conditions::kReady) || facts.empty_since ||
        facts.unneeded_since)
        return std::nullopt;
    const auto left = ready->at + kSettlingIn - now.at;
    return left.count() > 0 ? std::optional<base::Duration>(left) : std::nullopt;
}

std::optional<api::Time> empty_since(const NodeFacts& facts, api::Time now) {
    if (!may_be_idle(facts, now) || facts.evictable_pods > 0) return std::nullopt;
    return facts.empty_since ? facts.empty_since : now;
}

bool is_hardly_used(const NodeFacts& facts) {
    return facts.utilization_percent <
           static_cast<double>(facts.pool.spec.scaleDown.utilizationThresholdPercent);
}

bool is_overpriced(const NodeFacts& facts) {
    return facts.price_percent < static_cast<double>(facts.pool.spec.scaleDown.priceThresholdPercent);
}

std::optional<api::Time> unneeded_since(const NodeFacts& facts, api::Time now) {
    const bool is_idle = is_hardly_used(facts) || is_overpriced(facts);
    if (!is_idle || !may_be_idle(facts, now)) return std::nullopt;
    return facts.unneeded_since ? facts.unneeded_since : now;
}

bool is_unneeded(const NodeFacts& facts, api::Time now) {
    const auto& since = facts.unneeded_since;
    return since && !end_of(since, facts.pool.spec.scaleDown.unneededDuration, now);
}

}  // namespace controllers::disruption
