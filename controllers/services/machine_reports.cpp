#include "controllers/services/machine_reports.hpp"

namespace controllers {

const MachineReports::Report* MachineReports::of(const NodeSmithClaim& claim) const {
    const auto found = by_claim_.find(api::key_of(claim));
    const bool is_its = found != by_claim_.end() && found->second.attempt == claim.status.launchAttempts &&
                        found->second.system_uuid == claim.status.systemUUID;
    return is_its ? &found->second.report : nullptr;
}

void MachineReports::report(const NodeSmithClaim& claim, Report report) {
    const auto key = api::key_of(claim);
    by_claim_.insert_or_assign(
        key, Entry{claim.status.launchAttempts, claim.status.systemUUID, std::move(report)});
    if (told_) told_(key);
}

}  // namespace controllers
