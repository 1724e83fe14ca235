// From an admitted claim to a running machine.
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/claim/decide/vanished.hpp"
#include "controllers/state/identity.hpp"
#include "controllers/state/limits.hpp"
#include "controllers/state/template_hash.hpp"

namespace controllers::claim {

namespace {

// Nobody tells a claim that another one has left a place within the limits.
constexpr api::Duration kLimitRetry(std::chrono::seconds{30});

Decision waiting(const Situation& s, std::string_view reason, std::string message,
                 std::optional<api::Time> until = std::nullopt) {
    Decision decision{Step::nothing, s.claim.status, until};
    set(decision.status, conditions::kLaunched, ConditionStatus::False, reason, std::move(message), s.now);
    return decision;
}

// Without a machine on record nothing can exist at the provider.
bool is_placed(const ClaimStatus& status) {
    return !status.machineID.empty();
}

// What is intended is written down before anything is asked of the provider.
void begin(ClaimStatus& status, const Situation& s) {
    status.observedGeneration = s.claim.metadata.generation;
    status.providerRef = s.pool->spec.providerRef;
    status.size = size_text(limits::size_of(s.claim.spec, s.pool));
    status.templateHash = template_hash(*s.pool, s.provider);
}

Decision begin_attempt(const Situation& s) {
    Decision decision{Step::launch, s.claim.status, std::nullopt};
    auto& status = decision.status;
    begin(status, s);
    base::count_up(status.launchAttempts);
    status.systemUUID = system_uuid(s.claim.metadata.uid, status.launchAttempts);
    status.nextRetryTime.reset();
    set(status, conditions::kLaunched, ConditionStatus::False, reasons::kWaiting,
        "a host is being chosen for attempt " + std::to_string(status.launchAttempts), s.now);
    decision.only_chooses = true;
    return decision;
}

api::Duration provision_timeout(const Situation& s) {
    return s.pool ? s.pool->spec.scaleUp.provisionTimeout : api::v1alpha1::ScaleUp{}.provisionTimeout;
}

std::int32_t max_attempts(const Situation& s) {
    return s.pool ? s.pool->spec.scaleUp.maxLaunchAttempts : api::v1alpha1::ScaleUp{}.maxLaunchAttempts;
}

void follow(ClaimStatus& status, const Situation& s, const providers::Machine& machine) {
    status.host = machine.record.host;
    status.machineID = machine.record.machine_id;
    status.taskRef = machine.record.task;
    if (s.provider && s.provider->status.cluster) status.cluster = s.provider->status.cluster->id;
    // Hardware brings its own identity; it is the claim's once the host is.
    status.waitsForRoomSince.reset();
    const bool has_own_uuid = machine.is_bare_metal && machine.state != providers::MachineState::placed;
    if (has_own_uuid) status.systemUUID = machine.identity.system_uuid;
    if (!machine.zone.empty()) status.zone = machine.zone;
    // Before the machine is made, as it is told to some of them.
    if (!machine.provider_id.empty()) status.providerID = machine.provider_id;
    if (!machine.addresses.empty()) status.addresses = machine.addresses;
    auto where = "machine " + status.machineID + " on host " + status.host;
    if (machine.state == providers::MachineState::placed) {
        status.templateRevision = machine.template_revision;
        set(status, conditions::kLaunched, ConditionStatus::False, reasons::kLaunching,
            where + " is about to be created" + (machine.message.empty() ? "" : ": " + machine.message),
            s.now);
    } else if (machine.state == providers::MachineState::running) {
        if (status.boot && !status.boot->startedTime) status.boot->startedTime = s.now;
        set(status, conditions::kLaunched, ConditionStatus::True, reasons::kLaunched, where + " runs", s.now);
    } else {
        set(status, conditions::kLaunched, ConditionStatus::Unknown, reasons::kLaunching,
            machine.message.empty() ? where + " is being started" : machine.message, s.now);
    }
}

// A machine that exists but does not come up; time that the provider did not answer is not held against it
// before it was seen for the first time. One whose Node is Ready is up, whatever its provider says.
bool is_overdue(const ClaimStatus& status, const Situation& s) {
    if (s.node && api::is_true(s.node->status.conditions, conditions::kReady)) return false;
    const auto* launched = api::find_condition(status.conditions, conditions::kLaunched);
    if (!launched || launched->status != ConditionStatus::Unknown || !launched->lastTransitionTime)
        return false;
    return later(*launched->lastTransitionTime, provision_timeout(s)) <= s.now;
}

void note(ClaimStatus& status, std::string_view reason, const std::string& message, api::Time now) {
    const auto* launched = api::find_condition(status.conditions, conditions::kLaunched);
    // Unknown stays: it tells how long the machine has been on its way.
    set(status, conditions::kLaunched, launched ? launched->status : ConditionStatus::False, reason, message,
        now);
}

// Room is waited for as long as a machine may take to be made; for what can never be, not at all.
void await_room(ClaimStatus& status, const Situation& s, const providers::InsufficientCapacity& full) {
    if (full.permanent)
        return fail_for_room(status, reasons::kNoHostLargeEnough,
                             full.message + "; make the sizes of pool " + s.claim.spec.poolRef +
                                 " smaller, or add a larger host",
                             s.now);
    if (!status.waitsForRoomSince) status.waitsForRoomSince = s.now;
    if (later(*status.waitsForRoomSince, provision_timeout(s)) <= s.now)
        return fail_for_room(status, reasons::kInsufficientCapacity,
                             "no host had room within " + provision_timeout(s).str() + ": " + full.message,
                             s.now);
    note(status, reasons::kInsufficientCapacity, full.message, s.now);
}

// What its user changed since it was launched takes effect on what is not launched: its pods are demand
// again.
std::optional<std::string> why_withdrawn(const Situation& s) {
    if (!limits::is_created_by_pool(s.claim)) return std::nullopt;
    if (s.launch_hold)
        return s.launch_hold->reason == reasons::kLimitExceeded ? std::optional(s.launch_hold->message)
                                                                : std::nullopt;
    const auto size = limits::size_of(s.claim.spec, s.pool);
    // Bare metal is launched as it stands, whatever the template says.
    const bool goes_by_template = s.provider && !s.provider->spec.redfish;
    if (!goes_by_template || limits::is_offered(s.pool->spec.machineTemplate, size)) return std::nullopt;
    return "pool " + s.pool->metadata.name + " no longer offers machines of " + size_text(size);
}

// Returns whether a name that somebody has stands in the way. A machine that got its certificate has that
// name itself, whatever UUID its Node shows. Where a person's claim has a machine already, it goes the way of
// any machine whose Node does not appear, which has an end.
bool must_heed_name(const Situation& s) {
    const auto& status = s.claim.status;
    const auto* launched = api::find_condition(status.conditions, conditions::kLaunched);
    const bool is_made = launched && launched->status == ConditionStatus::Unknown;
    const bool is_far_on = is_made && !limits::is_created_by_pool(s.claim);
    return !s.name_taken.empty() && status.bootstrapKeySHA256.empty() && !is_far_on;
}

// No machine gets a name that somebody else has: whoever has a certificate for a Node's name is that Node.
Decision decide_taken(const Situation& s) {
    if (!limits::is_created_by_pool(s.claim))
        return waiting(s, reasons::kNameTaken,
                       s.name_taken +
                           ": no machine is created for this claim. Delete the claim and create one with "
                           "another name, or remove the object that has the name");
    Decision decision{Step::nothing, s.claim.status, std::nullopt};
    fail_for_room(decision.status, reasons::kNameTaken,
                  s.name_taken + ": a claim with another name replaces this one", s.now);
    return decision;
}

}  // namespace

Decision decide_launch(const Situation& s) {
    const auto& status = s.claim.status;
    if (must_heed_name(s)) return decide_taken(s);
    if (!is_placed(status)) {
        if (!s.pool) return waiting(s, reasons::kPoolMissing, "there is no pool " + s.claim.spec.poolRef);
        if (s.pool->metadata.deletionTimestamp)
            return waiting(s, reasons::kWaiting, "the pool is being deleted");
        if (auto why = why_withdrawn(s)) {
            auto decision = waiting(s, reasons::kWithdrawn, std::move(*why));
            decision.step = Step::delete_claim;
            return decision;
        }
        if (s.launch_hold) {
            const bool is_full = s.launch_hold->reason == reasons::kLimitExceeded;
            return waiting(s, s.launch_hold->reason, s.launch_hold->message,
                           is_full ? std::optional(later(s.now, kLimitRetry)) : std::nullopt);
        }
        if (!limits::is_admitted(s.claim)) return {Step::admit, status, std::nullopt};
    } else if (is_elsewhere(s)) {
        return {Step::nothing, after_failed_launch(s, reasons::kOtherCluster, elsewhere_text(s)),
                std::nullopt};
    }
    if (!status.systemUUID.empty()) return {Step::launch, status, std::nullopt};
    if (status.nextRetryTime && *status.nextRetryTime > s.now) {
        return {Step::nothing, status, status.nextRetryTime};
    }
    return begin_attempt(s);
}

ClaimStatus after_failed_launch(const Situation& s, std::string_view reason, const std::string& message) {
    auto status = s.claim.status;
    note(status, reason, message, s.now);
    return status;
}

ClaimStatus after_ensure(const Situation& s, const providers::EnsureResult& result) {
    auto status = s.claim.status;
    if (const auto* machine = std::get_if<providers::Machine>(&result)) {
        follow(status, s, *machine);
        if (is_overdue(status, s)) {
            Failure failure{
                std::string(reasons::kProvisionTimeout),
                "the machine did not run within " + provision_timeout(s).str() + ": " + machine->message,
                status.host};
            fail_attempt(status, failure, max_attempts(s), s.now);
        }
    } else if (const auto* full = std::get_if<providers::InsufficientCapacity>(&result)) {
        // Also for a placed machine: the provider has found that it does not exist and has no other host for
        // it.
        if (full->is_given_back) forget_place(status);
        await_room(status, s, *full);
    } else if (const auto* busy = std::get_if<providers::NotReady>(&result)) {
        note(status, reasons::kProviderNotReady, busy->message, s.now);
    } else if (const auto* failed = std::get_if<providers::AttemptFailed>(&result)) {
        Failure failure{failed->reason, failed->message, failed->avoid_host ? status.host : std::string(),
                        failed->is_excused};
        fail_attempt(status, failure, max_attempts(s), s.now);
    }
    return status;
}

}  // namespace controllers::claim
