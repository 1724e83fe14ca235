#include "controllers/host_status.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/host_capacity.hpp"
#include "controllers/state/course.hpp"

namespace controllers {

using api::ConditionStatus;
using api::v1alpha1::HostPhase;
using api::v1alpha1::HostStatus;
using providers::Part;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

namespace {

constexpr std::chrono::minutes kPowerSettles{2};
constexpr std::size_t kLongestMark = 253;
constexpr const char* kLeftPrepared = "LeftPrepared";
constexpr const char* kInUseByOthers = "InUseByOthers";

struct HostVerdict {
    HostPhase phase;
    std::string reason;  // empty: the host can be given to a claim
    std::string message;
};

void set(HostStatus& status, std::string_view type, ConditionStatus value, std::string_view reason,
         std::string message, const HostFacts& facts) {
    api::ConditionUpdate update;
    update.type = type;
    update.status = value;
    update.reason = reason;
    update.message = std::move(message);
    update.observedGeneration = facts.host.metadata.generation;
    api::set_condition(status.conditions, update, facts.now);
}

// Keeps the known load unless it changed by at least a tenth.
std::optional<std::int64_t> steady(std::optional<std::int64_t> known, std::optional<std::int64_t> told) {
    if (!known || !told) return told;
    const auto difference = *told > *known ? *told - *known : *known - *told;
    return difference * 10 < *known ? known : told;
}

std::string disk_text(const providers::DiskGroup& disk) {
    return std::to_string(disk.count) + "x" + (disk.size_gb > 0 ? std::to_string(disk.size_gb) + "GB" : "?") +
           (disk.kind.empty() ? "" : " " + disk.kind);
}

std::string port_text(const providers::PortGroup& port) {
    const auto mbps = port.speed_mbps;
    const bool is_whole = mbps >= 1000 && mbps % 1000 == 0;
    return std::to_string(port.count) + "x" +
           (is_whole ? std::to_string(mbps / 1000) + "G" : std::to_string(mbps) + "M");
}

// Reports whether the report has news. Parts that could not be read keep their known values. If nothing is
// known yet, a partial reading is better than none.
bool is_news(bool is_unknown, const providers::HostReport& report, std::initializer_list<Part> parts) {
    return is_unknown || std::ranges::none_of(parts, [&](Part part) { return report.unread.contains(part); });
}

std::int64_t count_of(const auto& disks) {
    std::int64_t count = 0;
    for (const auto& disk : disks) count += disk.count;
    return count;
}

void describe_parts(HostStatus& status, const providers::HostReport& report) {
    constexpr std::size_t kLongest = 256;
    // Many BMCs list less while the host is off.
    const bool is_on = report.power_state == "On";
    const bool are_disks_fewer = count_of(report.disks) < count_of(status.disks);
    if ((is_on || !are_disks_fewer) && is_news(status.disks.empty(), report, {Part::storage})) {
        status.disks.clear();
        for (const auto& [kind, size, count] : report.disks) status.disks.push_back({kind, size, count});
        status.diskSummary = base::joined(report.disks, ", ", disk_text).substr(0, kLongest);
    }
    if (is_news(status.ports.empty(), report, {Part::interfaces, Part::chassis, Part::adapters})) {
        status.ports.clear();
        for (const auto& [speed, count] : report.ports) status.ports.push_back({speed, count});
        status.portSummary = base::joined(report.ports, ", ", port_text).substr(0, kLongest);
    }
    if (is_news(status.accelerators.empty(), report, {Part::processors})) {
        status.accelerators.clear();
        for (const auto& [kind, model, count] : report.accelerators)
            status.accelerators.push_back({kind, model, count});
    }
    if ((is_on || !report.macs.empty()) && is_news(status.macs.empty(), report, {Part::interfaces}))
        status.macs = report.macs;
    if ((is_on || !report.architecture.empty()) &&
        is_news(status.architecture.empty(), report, {Part::processors}))
        status.architecture = report.architecture;
    if (is_news(status.bmcVersion.empty(), report, {Part::manager})) status.bmcVersion = report.bmc_version;
}

// Records refused credentials in the status. A new process would otherwise send them again.
void note_refusal(HostStatus& status, const HostFacts& facts) {
    const auto& report = *facts.report;
    const auto& known = status.refusedCredentials;
    const auto* mark = api::find(facts.host.metadata.annotations, api::annotations::kRetryCredentials);
    const auto retry = (mark ? *mark : std::string()).substr(0, kLongestMark);
    const bool is_known = known && known->secret == report.refused_credentials &&
                          known->count == report.refusals && known->retry == retry;
    if (!report.accepted_credentials.empty()) {
        status.acceptedCredentials = report.accepted_credentials;
        status.sessionServiceDisabled = report.are_sessions_off;
        status.refusedCredentials.reset();
    }
    if (report.refused_credentials.empty() || is_known) return;
    status.refusedCredentials =
        api::v1alpha1::RefusedCredentials{report.refused_credentials, facts.now, report.refusals, retry};
}

void note_lock(HostStatus& status, const HostFacts& facts) {
    const auto& lock = facts.report->lock;
    if (lock) {
        set(status, conditions::kLockable, lock->is_usable ? ConditionStatus::True : ConditionStatus::False,
            lock->reason, lock->message, facts);
    } else {
        std::erase_if(status.conditions,
                      [](const auto& condition) { return condition.type == conditions::kLockable; });
    }
}

void note_boot(HostStatus& status, const HostFacts& facts) {
    const auto& report = *facts.report;
    const auto& why = report.boot_obstacle.empty() ? report.left_prepared : report.boot_obstacle;
    set(status, conditions::kBootable, why.empty() ? ConditionStatus::True : ConditionStatus::False,
        !report.boot_obstacle.empty() ? "Unsupported"
        : why.empty()                 ? "Bootable"
                                      : kLeftPrepared,
        why.empty() ? "no obstacle is known to booting it as its provider wants" : why, facts);
}

// Sets the condition Healthy. It is also False while the system is absent, disabled or being updated.
void note_health(HostStatus& status, const HostFacts& facts) {
    const auto& report = *facts.report;
    if (!report.state.empty())
        return set(status, conditions::kHealthy, ConditionStatus::False, report.state,
                   "its BMC says that the system is " + report.state +
                       " (Status.State): no claim gets the host until that changes",
                   facts);
    const bool is_critical = report.health == "Critical";
    set(status, conditions::kHealthy, is_critical ? ConditionStatus::False : ConditionStatus::True,
        is_critical ? "Critical" : std::string(reasons::kHealthy),
        report.health.empty() ? "the BMC does not report its health" : "its health is " + report.health,
        facts);
}

void observe(HostStatus& status, const HostFacts& facts) {
    if (!facts.report) return;
    const auto& report = *facts.report;
    status.failedLooks = facts.failed_looks;
    const bool answered = report.reachable && report.authenticated && report.reason.empty();
    set(status, conditions::kReachable, report.reachable ? ConditionStatus::True : ConditionStatus::False,
        report.reachable ? std::string(reasons::kReachable) : report.reason,
        report.reachable ? "the BMC answers" : report.message, facts);
    if (report.reachable)
        set(status, conditions::kAuthenticated,
            report.authenticated ? ConditionStatus::True : ConditionStatus::False,
            report.authenticated ? "Authenticated" : report.reason,
            report.authenticated ? "the BMC accepts the credentials" : report.message, facts);
    note_refusal(status, facts);
    if (!answered) return;
    status.powerState = report.power_state;
    status.health = report.health;
    status.serialNumber = report.serial_number;
    status.model = report.model;
    status.biosVersion = report.bios_version;
    status.powerWatts = steady(status.powerWatts, report.power_watts);
    describe_parts(status, report);
    const bool is_complete = report.flaws.empty();
    set(status, conditions::kInventoryComplete, is_complete ? ConditionStatus::True : ConditionStatus::False,
        is_complete ? "Complete" : "Incomplete",
        is_complete ? "everything that its BMC reports could be used"
                    : "left out of the status: " + base::joined(report.flaws, "; "),
        facts);
    // A reserved host keeps the UUID of the machine that the claim took, even after the claim has vanished.
    // Only that machine must be turned off, never another one that answers instead.
    if (!status.claimRef || status.systemUUID.empty()) status.systemUUID = report.system_uuid;
    note_lock(status, facts);
    note_health(status, facts);
    note_boot(status, facts);
}

void verify_identity(HostStatus& status, const HostFacts& facts) {
    if (!facts.report || !facts.report->reachable || !facts.report->reason.empty()) return;
    const auto& told = facts.report->system_uuid;
    const auto& pinned = facts.host.spec.systemUUID;
    const auto refuse = [&](std::string_view reason, std::string message) {
        set(status, conditions::kIdentityVerified, ConditionStatus::False, reason, std::move(message), facts);
    };
    if (told.empty()) return refuse("NoSystemUUID", "the BMC tells no system UUID that identifies the host");
    if (!pinned.empty() && !base::same_uuid(told, pinned))
        return refuse("SystemUUIDMismatch",
                      "the BMC reports system UUID " + told + ", but spec.systemUUID is " + pinned);
    if (status.claimRef && !base::same_uuid(told, status.systemUUID))
        return refuse("SystemUUIDMismatch", "the BMC reports system UUID " + told +
                                                ", but the host was reserved as " + status.systemUUID);
    if (!facts.twin.empty())
        return refuse("DuplicateHost", "NodeSmithHost " + facts.twin + " is the same machine (system UUID " +
                                           told + "): delete one of them");
    set(status, conditions::kIdentityVerified, ConditionStatus::True, "Verified",
        "its system UUID is " + told, facts);
}

HostPhase phase_with_claim(const HostFacts& facts, HostPhase phase) {
    if (phase == HostPhase::PoweringOff || phase == HostPhase::Wiping) return phase;
    if (!facts.claim) return phase;
    const auto& claim = *facts.claim;
    const bool registered = api::is_true(claim.status.conditions, conditions::kRegistered);
    const bool leaves =
        claim.metadata.deletionTimestamp || api::is_true(claim.status.conditions, conditions::kDisrupted);
    if (registered && leaves) return HostPhase::Draining;
    if (registered) return HostPhase::InUse;
    return phase;
}

std::string name_of(HostPhase phase) {
    switch (phase) {
        case HostPhase::InUse:
            return "InUse";
        case HostPhase::Draining:
            return "Draining";
        case HostPhase::Joining:
            return "Joining";
        case HostPhase::PoweringOn:
            return "PoweringOn";
        case HostPhase::PoweringOff:
            return "PoweringOff";
        case HostPhase::Wiping:
            return "Wiping";
        default:
            return "Reserved";
    }
}

// Adds to the message that a host being deleted waits until its claim releases it.
HostVerdict while_it_waits(const HostFacts& facts, HostVerdict verdict) {
    const auto& host = facts.host;
    const std::string kWaits = "; the host is being deleted: waiting until claim " +
                               host.status.claimRef->name +
                               " has returned it (delete the claim to do that now)";
    if (host.metadata.deletionTimestamp && !verdict.message.ends_with(kWaits)) verdict.message += kWaits;
    return verdict;
}

HostVerdict judge_claimed(const HostFacts& facts) {
    const auto before = facts.host.status.phase.value_or(HostPhase::Reserved);
    const auto phase = phase_with_claim(facts, before);
    const auto* ready = api::find_condition(facts.host.status.conditions, conditions::kReady);
    if (phase == before && ready && ready->reason == name_of(phase))
        return {phase, ready->reason, ready->message};
    const auto& name = facts.host.status.claimRef->name;
    if (phase == HostPhase::InUse) return {phase, name_of(phase), "serves claim " + name};
    if (phase == HostPhase::Draining) return {phase, name_of(phase), "claim " + name + " is being removed"};
    return {phase, name_of(phase), "claim " + name + " has it"};
}

std::string lacking_capacity(const HostStatus& status) {
    const auto capacity = status.capacity.value_or(api::v1alpha1::HostCapacity{});
    const bool has_cores = capacity.cpuCores > 0, has_memory = capacity.memoryMiB > 0;
    if (has_cores && has_memory) return "";
    if (has_memory) return "its BMC does not tell its cores; set spec.capacity.cpuCores";
    if (has_cores) return "its BMC does not tell its memory; set spec.capacity.memoryMiB";
    return "its BMC does not tell cores and memory; set spec.capacity";
}

HostVerdict judge_free(const HostFacts& facts, const HostStatus& status) {
    const auto& host = facts.host;
    if (host.spec.maintenance)
        return {HostPhase::Maintenance, std::string(kInMaintenance), "is in maintenance"};
    if (!facts.report) {
        const auto* ready = api::find_condition(host.status.conditions, conditions::kReady);
        const bool is_known = ready && host.status.phase && host.status.phase != HostPhase::Discovering;
        if (!is_known) return {HostPhase::Discovering, "Discovering", "its BMC is being asked"};
    }
    for (const auto type : {conditions::kReachable, conditions::kAuthenticated, conditions::kIdentityVerified,
                            conditions::kHealthy}) {
        const auto* condition = api::find_condition(status.conditions, type);
        if (condition && condition->status == ConditionStatus::False)
            return {HostPhase::Quarantined, condition->reason, condition->message};
    }
    const auto* boot = api::find_condition(status.conditions, conditions::kBootable);
    if (boot && boot->status == ConditionStatus::False && boot->reason != kLeftPrepared)
        return {HostPhase::Quarantined, boot->reason, boot->message};
    if (facts.report && !facts.report->reason.empty())
        return {HostPhase::Quarantined, facts.report->reason, facts.report->message};
    const auto* lock = api::find_condition(status.conditions, conditions::kLockable);
    if (lock && lock->status == ConditionStatus::False) {
        const bool is_theirs = lock->reason == kInUseByOthers;
        return {is_theirs ? HostPhase::Foreign : HostPhase::Quarantined, lock->reason, lock->message};
    }
    // A twin that is discovered simultaneously must have had the chance to see this host.
    if (status.systemUUID != host.status.systemUUID || status.systemUUID.empty())
        return {HostPhase::Discovering, "Discovering", "its identity is being compared with other hosts'"};
    if (status.nextRetryTime && facts.now < *status.nextRetryTime)
        return {HostPhase::Quarantined, "BackingOff",
                "did not become a Node " + base::counted(status.failures, "time") +
                    " in a row; it is tried again at " + status.nextRetryTime->str() +
                    (status.lastFailure.empty() ? "" : ": " + status.lastFailure)};
    if (status.powerState == "On" && !is_adoptable(host)) {
        const auto whose = facts.node.empty() ? "someone else uses it" : "it runs Node " + facts.node;
        return {HostPhase::Foreign, kInUseByOthers,
                "is on though no claim has it (" + whose +
                    "): it is left alone; turn it off, or annotate the host with " +
                    std::string(api::annotations::kAdopt) + "=true to let claims use it as it is"};
    }
    if (status.powerState == "Off" && facts.is_off_new)
        return {
            HostPhase::Foreign, kInUseByOthers,
            "was on though no claim has it, and its BMC says Off now: it is asked once more, because BMCs "
            "that restart say so of a host that is on"};
    if (status.powerState != "Off" && status.powerState != "On")
        return {HostPhase::Discovering, "Discovering",
                status.powerState.empty() ? "its power state is not known" : "it is " + status.powerState};
    const auto lacking = lacking_capacity(status);
    if (!lacking.empty()) return {HostPhase::Quarantined, "CapacityUnknown", lacking};
    return {HostPhase::Available, "", "can be given to a claim"};
}

// Records whether the host is on for its claim. The claim turning it on or the claim's Ready Node proves
// that. If the host was off since, someone else may have turned it on.
void judge_power(HostStatus& status, const HostFacts& facts) {
    if (!status.claimRef) return;
    const bool serves = status.phase == HostPhase::InUse || status.phase == HostPhase::Draining;
    if (serves && facts.has_ready_node && status.powerState == "On" && !status.wokenTime)
        status.wokenTime = facts.now;
    const bool is_up = serves || status.phase == HostPhase::Joining;
    // BMCs that restart say Off for a while, so one look proves nothing, nor do two if the Node is Ready.
    const bool is_off = facts.report && facts.report->reason.empty() && facts.report->power_state == "Off" &&
                        !facts.is_off_new && !facts.has_ready_node;
    // Within that time a BMC may report the old power state.
    const bool is_known =
        facts.looked && status.wokenTime && status.wokenTime->at + kPowerSettles <= facts.looked->at;
    // Its power cycle turned it off, and may have turned it on again since.
    const bool is_cycled = facts.claim && disruption::is_power_cycling(*facts.claim);
    if (is_up && is_off && is_known && !is_cycled) status.wokenTime.reset();
}

// Learns how long a host takes from reservation to a registered Node, as a moving average.
void learn_wake_time(HostStatus& status, const HostFacts& facts) {
    const auto* taken = api::find_condition(facts.host.status.conditions, conditions::kReady);
    const auto* joined = api::find_condition(facts.claim->status.conditions, conditions::kRegistered);
    if (!taken || !taken->lastTransitionTime || !joined || !joined->lastTransitionTime) return;
    if (taken->status != ConditionStatus::False) return;
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(joined->lastTransitionTime->at -
                                                                       taken->lastTransitionTime->at)
                          .count();
    if (took <= 0) return;
    status.wakeSeconds = status.wakeSeconds ? (*status.wakeSeconds * 3 + took) / 4 : took;
}

}  // namespace

HostStatus next_host_status(const HostFacts& facts) {
    auto status = facts.host.status;
    status.observedGeneration = facts.host.metadata.generation;
    observe(status, facts);
    verify_identity(status, facts);
    status.capacity = next_capacity(facts);
    if (!facts.node_uid.empty()) status.nodeUID = facts.node_uid;
    const auto verdict =
        status.claimRef ? while_it_waits(facts, judge_claimed(facts)) : judge_free(facts, status);
    if (verdict.phase == HostPhase::InUse && facts.host.status.phase != HostPhase::InUse) {
        learn_wake_time(status, facts);
        status.failures = 0;
        status.lastFailure.clear();
        status.nextRetryTime.reset();
    }
    status.phase = verdict.phase;
    judge_power(status, facts);
    // A host in use is as healthy as an available one. One in maintenance is as a person wants it.
    const bool is_well = verdict.reason.empty() || verdict.phase == HostPhase::InUse ||
                         verdict.phase == HostPhase::Maintenance;
    set(status, conditions::kReady, is_well ? ConditionStatus::True : ConditionStatus::False,
        verdict.reason.empty() ? std::string(reasons::kReady) : verdict.reason, verdict.message, facts);
    auto after = facts.host;
    after.status = std::move(status);
    conclude(after, facts.now);
    return after.status;
}

}  // namespace controllers
