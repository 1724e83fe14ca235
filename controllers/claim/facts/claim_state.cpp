#include "controllers/claim/facts/claim_state.hpp"

#include "base/backoff.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"

namespace controllers::claim {

void set(ClaimStatus& status, std::string_view type, ConditionStatus value, std::string_view reason,
         std::string message, api::Time now) {
    api::ConditionUpdate update;
    update.type = type;
    update.status = value;
    update.reason = reason;
    update.message = std::move(message);
    api::set_condition(status.conditions, update, now);
}

std::optional<api::Time> since(const ClaimStatus& status, std::string_view type) {
    const auto* condition = api::find_condition(status.conditions, type);
    return condition ? condition->lastTransitionTime : std::nullopt;
}

bool has_reason(const ClaimStatus& status, std::string_view type, std::string_view reason) {
    const auto* condition = api::find_condition(status.conditions, type);
    return condition && condition->reason == reason;
}

bool waits_for(const NodeSmithClaim& claim, std::string_view reason) {
    const auto* launched = api::find_condition(claim.status.conditions, conditions::kLaunched);
    return launched && launched->status != ConditionStatus::True && launched->reason == reason;
}

bool waits_for_owner_of_node(const NodeSmithClaim& claim) {
    const auto* drained = api::find_condition(claim.status.conditions, conditions::kDrained);
    return drained && drained->status == ConditionStatus::False &&
           drained->reason == reasons::kNodeIdentityMismatch;
}

bool is_true(const NodeSmithClaim& claim, std::string_view type) {
    return api::is_true(claim.status.conditions, type);
}

bool is_unadopted(const ClaimStatus& status) {
    return !status.providerID.empty() && status.systemUUID.empty() && status.machineID.empty();
}

bool is_owned_by_pool(const NodeSmithClaim& claim) {
    const auto* owner = api::controller_of(claim.metadata);
    return owner && owner->kind == NodeSmithPool::kResource.kind;
}

bool loses_machine(const NodeSmithClaim& claim) {
    return api::find_condition(claim.status.conditions, conditions::kMachineDeleted) != nullptr;
}

bool is_leaving(const NodeSmithClaim& claim) {
    return claim.metadata.deletionTimestamp || loses_machine(claim);
}

api::Time later(api::Time time, api::Duration wait) {
    return api::Time(time.at + std::chrono::ceil<std::chrono::seconds>(wait.value));
}

ClaimPhase phase_of(const NodeSmithClaim& claim) {
    const auto& status = claim.status;
    bool leaving = claim.metadata.deletionTimestamp.has_value();
    if (leaving || (api::find_condition(status.conditions, conditions::kMachineDeleted) &&
                    !is_true(claim, conditions::kFailed))) {
        bool drains = api::is_false(status.conditions, conditions::kDrained);
        return drains ? ClaimPhase::Draining : leaving ? ClaimPhase::Terminating : ClaimPhase::Launching;
    }
    if (is_true(claim, conditions::kFailed)) return ClaimPhase::Failed;
    if (api::is_false(status.conditions, conditions::kDrained)) return ClaimPhase::Draining;
    if (is_true(claim, conditions::kInitialized)) return ClaimPhase::Ready;
    if (is_true(claim, conditions::kRegistered)) return ClaimPhase::Initializing;
    if (is_true(claim, conditions::kLaunched)) return ClaimPhase::Registering;
    return status.launchAttempts > 0 ? ClaimPhase::Launching : ClaimPhase::Pending;
}

std::string size_text(const api::v1alpha1::Size& size) {
    bool whole = size.memoryMiB % 1024 == 0;
    return std::to_string(size.cpuCores) + "c/" +
           (whole ? std::to_string(size.memoryMiB / 1024) + "Gi" : std::to_string(size.memoryMiB) + "Mi");
}

namespace {

constexpr std::size_t kMostFailedHosts = 64;  // limit in a status

void note_failed_host(ClaimStatus& status, const std::string& host) {
    if (host.empty()) return;
    auto& hosts = status.failedHosts;
    std::erase(hosts, host);
    hosts.push_back(host);
    if (hosts.size() > kMostFailedHosts) hosts.erase(hosts.begin());
}

}  // namespace

bool has_run(const ClaimStatus& status) {
    return status.hasRun || api::is_true(status.conditions, conditions::kLaunched) ||
           !status.nodeName.empty() || (status.boot && status.boot->startedTime);
}

void fail_attempt(ClaimStatus& status, const Failure& failure, std::int32_t max_attempts, api::Time now) {
    status.hasRun = has_run(status);
    const bool is_excused = failure.is_excused && status.excusedAttempts < kMostExcused;
    if (is_excused) base::count_up(status.excusedAttempts);
    const auto counted = status.launchAttempts - status.excusedAttempts;
    auto attempt = is_excused
                       ? "attempt " + std::to_string(status.launchAttempts) +
                             " failed but does not count, because its cause may pass: " + failure.message
                       : "attempt " + std::to_string(counted) + " of " + std::to_string(max_attempts) +
                             " failed: " + failure.message;
    status.lastFailure = {failure.reason, failure.message, failure.host, now, failure.is_refused};
    note_failed_host(status, failure.host);
    set(status, conditions::kLaunched, ConditionStatus::False, failure.reason, attempt, now);
    // The holder of that certificate remains this Node, even if another machine joins under its name.
    if (!status.bootstrapKeySHA256.empty()) {
        set(status, conditions::kFailed, ConditionStatus::True, reasons::kCertificateIssued,
            attempt +
                "; its Node's name is not used again, because a certificate was approved for it. A "
                "claim of a pool is replaced by one with another name; if you created this one, delete "
                "it and create one with another name",
            now);
    } else if (counted >= max_attempts) {
        bool unregistered = failure.reason == reasons::kRegistrationTimeout;
        set(status, conditions::kFailed, ConditionStatus::True,
            unregistered ? reasons::kRegistrationTimeoutExceeded : reasons::kLaunchAttemptsExceeded, attempt,
            now);
    }
    set(status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kAttemptFailed,
        "the machine of the failed attempt will be removed", now);
}

void fail_for_room(ClaimStatus& status, std::string_view reason, const std::string& message, api::Time now) {
    const bool is_refused = status.machineID.empty() && !has_run(status);
    status.lastFailure = {std::string(reason), message, "", now, is_refused};
    set(status, conditions::kLaunched, ConditionStatus::False, reason, message, now);
    set(status, conditions::kFailed, ConditionStatus::True, reason, message, now);
    if (!status.machineID.empty())
        set(status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kAttemptFailed,
            "what was created of the machine will be removed", now);
}

void forget_place(ClaimStatus& status) {
    for (auto* text : {&status.host, &status.zone, &status.machineID, &status.providerID, &status.taskRef})
        text->clear();
    status.addresses.clear();
    api::remove_condition(status.conditions, conditions::kStatusLost);
}

namespace {

constexpr std::size_t kMostResources = 64;  // limit in a status

api::ResourceList first_of(const api::ResourceList& all) {
    if (all.size() <= kMostResources) return all;
    api::ResourceList kept;
    // Names of device plugins have a domain.
    for (const bool has_domain : {false, true})
        for (const auto& [name, amount] : all)
            if ((name.find('/') != std::string::npos) == has_domain && kept.size() < kMostResources)
                kept.emplace(name, amount);
    return kept;
}

}  // namespace

void note_resources(ClaimStatus& status, const api::Node& node) {
    status.capacity = first_of(node.status.capacity);
    status.allocatable = first_of(node.status.allocatable);
}

std::chrono::seconds pause_after(const api::v1alpha1::Retry& retry, std::int32_t failures, bool is_refused) {
    const base::Backoff backoff{retry.initialBackoff.value, retry.maxBackoff.value};
    const auto pause = std::chrono::ceil<std::chrono::seconds>(backoff.after(failures));
    return is_refused ? std::min<std::chrono::seconds>(pause, kLongestRefusedPause) : pause;
}

void forget_attempt(ClaimStatus& status, const api::v1alpha1::Retry& retry, api::Time now) {
    for (auto type : {conditions::kMachineDeleted, conditions::kDrained, conditions::kVolumesDetached,
                      conditions::kRegistered, conditions::kInitialized, conditions::kTaintsSettled}) {
        api::remove_condition(status.conditions, type);
    }
    forget_place(status);
    for (auto* text : {&status.systemUUID, &status.nodeName, &status.bootstrapKeySHA256}) text->clear();
    status.waitsForRoomSince.reset();
    status.networkInterfaces.clear();
    status.boot.reset();
    status.capacity.clear();
    status.allocatable.clear();
    status.undeclaredTaints.clear();
    status.volumePlaces.clear();
    const bool is_refused = status.lastFailure && status.lastFailure->refused;
    status.nextRetryTime = api::Time(now.at + pause_after(retry, status.launchAttempts, is_refused));
}

}  // namespace controllers::claim
