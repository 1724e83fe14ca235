#include "controllers/services/machine_reports.hpp"

namespace controllers {

namespace {

bool is_of_attempt(const auto& entry, const NodeSmithClaim& claim) {
    return entry.attempt == claim.status.launchAttempts && entry.system_uuid == claim.status.systemUUID;
}

}  // namespace

const MachineReports::Report* MachineReports::of(const NodeSmithClaim& claim) const {
    const auto found = by_claim_.find(api::key_of(claim));
    const bool is_its = found != by_claim_.end() && is_of_attempt(found->second, claim);
    return is_its ? &found->second.report : nullptr;
}

MachineReports::Certificate MachineReports::certificate_of(const NodeSmithClaim& claim) const {
    const auto found = certificates_.find(api::key_of(claim));
    const bool is_its = found != certificates_.end() && is_of_attempt(found->second, claim);
    return is_its ? found->second.certificate : Certificate();
}

void MachineReports::note_refused_certificate(const NodeSmithClaim& claim, const std::string& request,
                                              std::string refusal) {
    const auto key = api::key_of(claim);
    auto& entry = certificates_[key];
    if (is_of_attempt(entry, claim) && entry.request == request && entry.certificate.refusal == refusal)
        return;
    entry = {claim.status.launchAttempts, claim.status.systemUUID, request, {std::move(refusal), {}}};
    if (told_) told_(key);
}

void MachineReports::note_settled_certificate(const NodeSmithClaim& claim, const std::string& request,
                                              api::Time now) {
    const auto key = api::key_of(claim);
    const auto found = certificates_.find(key);
    if (found == certificates_.end() || found->second.request != request) return;
    if (found->second.certificate.refusal.empty()) return;
    found->second.certificate = {"", now};
    if (told_) told_(key);
}

void MachineReports::report(const NodeSmithClaim& claim, Report report) {
    const auto key = api::key_of(claim);
    by_claim_.insert_or_assign(
        key, Entry{claim.status.launchAttempts, claim.status.systemUUID, std::move(report)});
    if (told_) told_(key);
}

}  // namespace controllers
