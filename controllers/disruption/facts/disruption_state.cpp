#include "controllers/disruption/facts/disruption_state.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers::disruption {

namespace {

// Most budgets permit an eviction sooner, and a launched machine takes minutes.
constexpr std::chrono::minutes kDrainHangs{5};
constexpr std::chrono::minutes kUndoneLasts{5};
constexpr base::Backoff kReplacementPauses{std::chrono::minutes{10}, std::chrono::hours{6}};

}  // namespace

std::optional<Kind> under_way(const NodeSmithClaim& claim) {
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    const bool is_decided = disrupted && disrupted->status == ConditionStatus::True;
    if (claim.metadata.deletionTimestamp || !is_decided) return std::nullopt;
    return kind_named(disrupted->reason);
}

api::Time decided_at(const NodeSmithClaim& claim) {
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    return disrupted ? disrupted->lastTransitionTime.value_or(api::Time{}) : api::Time{};
}

std::optional<api::Time> drain_began(const NodeSmithClaim& claim) {
    const auto* drained = api::find_condition(claim.status.conditions, conditions::kDrained);
    if (!drained || !under_way(claim)) return std::nullopt;
    return drained->lastTransitionTime.value_or(api::Time{});
}

// Returns a deadline for broken nodes, which have nothing to lose. Otherwise only
// the user's deadline forces anything.
std::optional<api::Time> drain_deadline(const NodeSmithClaim& claim,
                                        const api::v1alpha1::ScaleDown& scale_down) {
    const auto kind = under_way(claim);
    const auto began = drain_began(claim);
    if (!kind || !began) return std::nullopt;
    std::optional<api::Time> deadline;
    if (*kind == Kind::Unhealthy || scale_down.drainTimeoutAction == api::v1alpha1::DrainTimeoutAction::Force)
        deadline = claim::later(*began, scale_down.drainTimeout);
    const auto& grace = claim.spec.terminationGracePeriod;
    if (!grace || is_scale_down(*kind)) return deadline;
    const auto forced = claim::later(*began, *grace);
    return deadline ? std::min(*deadline, forced) : forced;
}

std::optional<Blocker> undone_lately(const NodeSmithClaim& claim, Kind kind, api::Time now) {
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    if (!disrupted || disrupted->status != ConditionStatus::False) return std::nullopt;
    if (kind_named(claim.status.undoneDisruption) != kind) return std::nullopt;
    const auto until = end_of(disrupted->lastTransitionTime, api::Duration(kUndoneLasts), now);
    if (!until) return std::nullopt;
    auto message = disrupted->message;
    if (message.starts_with(kNodeStays)) message.erase(0, kNodeStays.size());
    return Blocker{disrupted->reason, std::move(message), until};
}

bool may_replace(const NodeSmithPool& pool, api::Time now) {
    const auto& pause = pool.status.replacementPause;
    return !pause || !pause->nextRetryTime || *pause->nextRetryTime <= now;
}

api::v1alpha1::ReplacementPause paused_again(const NodeSmithPool& pool, api::Time now) {
    const auto& last = pool.status.replacementPause;
    const auto count = last ? std::clamp(last->count, 0, 100) + 1 : 1;
    return {count, api::Time(now.at + std::chrono::duration_cast<std::chrono::seconds>(
                                          kReplacementPauses.after(count)))};
}

bool is_staying(const NodeSmithClaim& claim) {
    const auto state = state_of(claim);
    return (state == ClaimState::pending || state == ClaimState::ready) &&
           !api::is_true(claim.status.conditions, conditions::kDisrupted);
}

bool is_domain_until_gone(const NodeSmithClaim& claim, api::Time now) {
    if (under_way(claim) == Kind::Underutilized) return true;
    const auto* drained = api::find_condition(claim.status.conditions, conditions::kDrained);
    const bool is_held =
        drained && drained->status == ConditionStatus::False &&
        (drained->reason == reasons::kBlockedByBudget || drained->reason == reasons::kEvictionFailed);
    return is_held && drained->lastTransitionTime && now.at - drained->lastTransitionTime->at >= kDrainHangs;
}

bool is_power_cycling(const NodeSmithClaim& claim) {
    return api::is_false(claim.status.conditions, conditions::kPowerCycled);
}

bool has_leaving_taint(const api::Node& node) {
    return api::find_taint(node.spec.taints, api::taints::kDisrupted, api::taints::kNoSchedule) != nullptr;
}

api::Node back_in_service(const api::Node& node) {
    auto result = node;
    std::erase_if(result.spec.taints,
                  [](const api::Taint& taint) { return taint.key == api::taints::kDisrupted; });
    claim::admit_connections(result);
    return result;
}

}  // namespace controllers::disruption
