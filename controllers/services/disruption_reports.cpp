#include "controllers/services/disruption_reports.hpp"

namespace controllers {

namespace {

std::string stage_of(const NodeSmithClaim& claim) {
    std::string stage;
    for (const auto type : {conditions::kDisrupted, conditions::kDrained, conditions::kPowerCycled}) {
        const auto* condition = api::find_condition(claim.status.conditions, type);
        if (!condition) continue;
        stage += std::string(type) + "=" + condition->reason + " ";
        if (condition->lastTransitionTime) stage += condition->lastTransitionTime->str() + " ";
    }
    return stage;
}

}  // namespace

const DisruptionReports::Entry* DisruptionReports::entry_of(const NodeSmithClaim& claim) const {
    const auto found = by_claim_.find(api::key_of(claim));
    const bool is_its = found != by_claim_.end() && found->second.uid == claim.metadata.uid &&
                        found->second.attempt == claim.status.launchAttempts;
    return is_its ? &found->second : nullptr;
}

DisruptionReports::Entry& DisruptionReports::make_entry(const NodeSmithClaim& claim) {
    auto& entry = by_claim_[api::key_of(claim)];
    const bool is_its = entry.uid == claim.metadata.uid && entry.attempt == claim.status.launchAttempts;
    if (!is_its) entry = {claim.metadata.uid, claim.status.launchAttempts, std::nullopt, {}, {}};
    return entry;
}

std::optional<DisruptionReports::Use> DisruptionReports::use_of(const NodeSmithClaim& claim) const {
    const auto* entry = entry_of(claim);
    return entry ? entry->use : std::nullopt;
}

DisruptionReports::Permission DisruptionReports::permission_of(const NodeSmithClaim& claim) const {
    const auto* entry = entry_of(claim);
    const bool holds = entry && entry->stage == stage_of(claim);
    return holds ? entry->permission : Permission::none;
}

void DisruptionReports::report(const NodeSmithClaim& claim, Use use) {
    auto& entry = make_entry(claim);
    if (entry.use == use) return;
    entry.use = std::move(use);
    if (told_) told_(api::key_of(claim));
}

void DisruptionReports::permit(const NodeSmithClaim& claim, Permission permission) {
    auto& entry = make_entry(claim);
    entry.permission = permission;
    entry.stage = stage_of(claim);
    if (told_ && permission != Permission::none) told_(api::key_of(claim));
}

}  // namespace controllers
