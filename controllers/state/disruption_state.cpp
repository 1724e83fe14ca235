#include "controllers/state/disruption_state.hpp"

#include "controllers/state/fleet.hpp"

namespace controllers::disruption {

using api::v1alpha1::NodeSmithClaim;
namespace conditions = api::conditions;

namespace {

// Most budgets give way sooner, and a machine that is bought takes minutes.
constexpr std::chrono::minutes kDrainHangs{5};

}  // namespace

std::optional<Kind> under_way(const NodeSmithClaim& claim) {
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    const bool is_decided = disrupted && disrupted->status == api::ConditionStatus::True;
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

bool is_staying(const NodeSmithClaim& claim) {
    const auto state = state_of(claim);
    return (state == ClaimState::pending || state == ClaimState::ready) &&
           !api::is_true(claim.status.conditions, conditions::kDisrupted);
}

bool loses_machine(const NodeSmithClaim& claim) {
    return api::find_condition(claim.status.conditions, conditions::kMachineDeleted) != nullptr;
}

bool is_domain_until_gone(const NodeSmithClaim& claim, api::Time now) {
    if (under_way(claim) == Kind::Underutilized) return true;
    const auto* drained = api::find_condition(claim.status.conditions, conditions::kDrained);
    return drained && drained->status == api::ConditionStatus::False &&
           drained->reason == api::reasons::kBlockedByBudget && drained->lastTransitionTime &&
           now.at - drained->lastTransitionTime->at >= kDrainHangs;
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
    result.metadata.labels->erase(std::string(api::labels::kExcludeFromLoadBalancers));
    return result;
}

}  // namespace controllers::disruption
