#include "controllers/claim/decide/launch.hpp"

#include "controllers/claim/decide/deadline.hpp"
#include "controllers/claim/decide/vanished.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/limits/limits.hpp"

namespace controllers::claim {

namespace {

// No event tells a claim that another one has freed room within the limits.
constexpr api::Duration kLimitRetry(std::chrono::seconds{30});

Decision waiting(const Situation& s, std::string_view reason, std::string message,
                 std::optional<api::Time> until = std::nullopt) {
    Decision decision{Step::nothing, s.claim.status, until};
    set(decision.status, conditions::kLaunched, ConditionStatus::False, reason, std::move(message), s.now);
    return decision;
}

// Reports whether a machine is recorded. Without a record nothing can exist at the provider.
bool is_placed(const ClaimStatus& status) {
    return !status.machineID.empty();
}

// Records the intent before anything is requested from the provider.
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

// Reports whether the claim has a statement about the machine of an earlier attempt. It would count for the
// next machine, which would be taken for gone, or lose its volumes.
bool has_old_statement(const NodeSmithClaim& claim) {
    const auto has = [&claim](std::string_view key) {
        return api::find(claim.metadata.annotations, key) != nullptr;
    };
    return has(api::annotations::kMachineGone) ||
           (claim.status.launchAttempts > 0 && has(api::annotations::kLocalVolumes));
}

api::Duration provision_timeout(const Situation& s) {
    return s.pool ? s.pool->spec.scaleUp.provisionTimeout : api::v1alpha1::ScaleUp{}.provisionTimeout;
}

std::int32_t max_attempts(const Situation& s) {
    return s.pool ? s.pool->spec.scaleUp.maxLaunchAttempts : api::v1alpha1::ScaleUp{}.maxLaunchAttempts;
}

void follow(ClaimStatus& status, const Situation& s, const providers::Machine& machine) {
    const bool is_new = machine.state == providers::MachineState::placed ||
                        (!status.machineID.empty() && status.machineID != machine.record.machine_id);
    if (is_new) api::remove_condition(status.conditions, conditions::kStatusLost);
    status.host = machine.record.host;
    status.machineID = machine.record.machine_id;
    status.taskRef = machine.record.task;
    if (s.provider && s.provider->status.cluster) status.cluster = s.provider->status.cluster->id;
    // Hardware has its own identity. It becomes the claim's when the host does.
    status.waitsForRoomSince.reset();
    const bool has_own_uuid = machine.is_bare_metal && machine.state != providers::MachineState::placed;
    if (has_own_uuid) status.systemUUID = machine.identity.system_uuid;
    if (!machine.zone.empty()) status.zone = machine.zone;
    // Recorded before the machine is created, because some machines get it in their boot data.
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

// Reports whether a machine exists but does not start in time. Time in which the provider did
// not answer does not count before the machine was first seen. A machine with a Ready Node is
// up, whatever its provider reports. Time in which others kept it waiting, such as a backup that locked it,
// is not taken from the time of its host.
bool is_overdue(const ClaimStatus& status, const Situation& s, const providers::Machine& machine) {
    if (s.node && api::is_true(s.node->status.conditions, conditions::kReady)) return false;
    const auto* launched = api::find_condition(status.conditions, conditions::kLaunched);
    if (!launched || launched->status != ConditionStatus::Unknown || !launched->lastTransitionTime)
        return false;
    const api::Duration others(machine.waits_for_others ? base::Duration{} : machine.waited);
    return deadline(s, later(*launched->lastTransitionTime, others), provision_timeout(s)) <= s.now;
}

// Returns the failure of a machine that is overdue. Whoever only waits for others uses up no attempt.
Failure overdue(const ClaimStatus& status, const Situation& s, const providers::Machine& machine) {
    Failure failure{std::string(reasons::kProvisionTimeout),
                    "the machine did not run within " + provision_timeout(s).str() + ": " + machine.message,
                    status.host};
    failure.is_excused = machine.waits_for_others;
    if (machine.waits_for_others) failure.host.clear();
    return failure;
}

void note(ClaimStatus& status, std::string_view reason, const std::string& message, api::Time now) {
    const auto* launched = api::find_condition(status.conditions, conditions::kLaunched);
    // Unknown is kept, because its transition time shows how long the machine has been starting.
    set(status, conditions::kLaunched, launched ? launched->status : ConditionStatus::False, reason, message,
        now);
}

// Waits for room as long as a machine may take to be created. It fails immediately if the size can never fit.
void await_room(ClaimStatus& status, const Situation& s, const providers::InsufficientCapacity& full) {
    if (full.permanent)
        return fail_for_room(status, reasons::kNoHostLargeEnough,
                             full.message + "; make the sizes of pool " + s.claim.spec.poolRef +
                                 " smaller, or add a larger host",
                             s.now);
    if (!status.waitsForRoomSince) status.waitsForRoomSince = s.now;
    if (deadline(s, *status.waitsForRoomSince, provision_timeout(s)) <= s.now)
        return fail_for_room(status, reasons::kInsufficientCapacity,
                             "no host had room within " + provision_timeout(s).str() + ": " + full.message,
                             s.now);
    note(status, reasons::kInsufficientCapacity, full.message, s.now);
}

// Returns why a claim that was not launched yet is withdrawn: the user changed the pool
// since. Its pods become demand again.
std::optional<std::string> why_withdrawn(const Situation& s) {
    if (!limits::is_created_by_pool(s.claim)) return std::nullopt;
    if (s.launch_hold)
        return s.launch_hold->reason == reasons::kLimitExceeded ? std::optional(s.launch_hold->message)
                                                                : std::nullopt;
    const auto size = limits::size_of(s.claim.spec, s.pool);
    // Bare metal is launched as it is, whatever the template says.
    const bool goes_by_template = s.provider && !s.provider->spec.redfish;
    if (!goes_by_template || limits::is_offered(s.pool->spec.machineTemplate, size)) return std::nullopt;
    return "pool " + s.pool->metadata.name + " no longer offers machines of " + size_text(size);
}

// Reports whether a taken name blocks the claim. A machine that got its certificate owns the name,
// whatever UUID its Node shows. A person's claim that already has a machine continues. It ends like any
// claim whose Node does not appear.
bool must_heed_name(const Situation& s) {
    const auto& status = s.claim.status;
    const auto* launched = api::find_condition(status.conditions, conditions::kLaunched);
    const bool is_made = launched && launched->status == ConditionStatus::Unknown;
    const bool is_far_on = is_made && !limits::is_created_by_pool(s.claim);
    return !s.name_taken.empty() && status.bootstrapKeySHA256.empty() && !is_far_on;
}

// Refuses a name that another object has: the holder of a certificate for a Node's name is that Node.
ClaimStatus without_name(const Situation& s, const std::string& why) {
    auto status = s.claim.status;
    if (limits::is_created_by_pool(s.claim))
        fail_for_room(status, reasons::kNameTaken, why + ": a claim with another name replaces this one",
                      s.now);
    else
        set(status, conditions::kLaunched, ConditionStatus::False, reasons::kNameTaken,
            why +
                ": no machine is created for this claim. Delete the claim and create one with another "
                "name, or remove the object that has the name",
            s.now);
    return status;
}

}  // namespace

Decision decide_launch(const Situation& s) {
    const auto& status = s.claim.status;
    if (must_heed_name(s)) return {Step::nothing, without_name(s, s.name_taken), std::nullopt};
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
    if (has_old_statement(s.claim)) return {Step::forget_statements, status, std::nullopt};
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
        if (is_overdue(status, s, *machine))
            fail_attempt(status, overdue(status, s, *machine), max_attempts(s), s.now);
    } else if (const auto* full = std::get_if<providers::InsufficientCapacity>(&result)) {
        // This also applies to a placed machine. The provider found that it does not
        // exist and has no other host for it.
        if (full->is_given_back) forget_place(status);
        await_room(status, s, *full);
    } else if (const auto* busy = std::get_if<providers::NotReady>(&result)) {
        note(status, reasons::kProviderNotReady, busy->message, s.now);
    } else if (const auto* failed = std::get_if<providers::AttemptFailed>(&result)) {
        Failure failure{failed->reason, failed->message, failed->avoid_host ? status.host : std::string(),
                        failed->is_excused, failed->is_refused};
        fail_attempt(status, failure, max_attempts(s), s.now);
    } else if (const auto* taken = std::get_if<providers::NameTaken>(&result)) {
        return without_name(s, taken->message);
    }
    return status;
}

}  // namespace controllers::claim
