#include "controllers/state/course.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/claim/facts/claim_state.hpp"

namespace controllers {

using api::Condition;
using api::Conditions;
using api::ConditionUpdate;
using api::v1alpha1::HostPhase;

namespace {

enum class Course { settled, goes_on, stalled };

// These reasons of waiting claims require a person.
constexpr std::string_view kClaimsWaitForPeople[] = {reasons::kUnknownValue,
                                                     reasons::kLabelConflict,
                                                     reasons::kPoolLabelKeyReserved,
                                                     reasons::kLabelInvalid,
                                                     reasons::kPoolMissing,
                                                     reasons::kProviderMissing,
                                                     reasons::kSecretMissing,
                                                     reasons::kSecretForbidden,
                                                     reasons::kSecretKeyMissing,
                                                     reasons::kSecretNamespaceRefused,
                                                     reasons::kProviderInitializationFailed,
                                                     reasons::kUnsupportedType,
                                                     reasons::kBootDataMissing,
                                                     reasons::kRequestRefused,
                                                     reasons::kNotAdopted,
                                                     reasons::kNameTaken,
                                                     reasons::kNodeIdentityMismatch,
                                                     reasons::kMarkMismatch,
                                                     "OwnershipMismatch",
                                                     "ProtectionEnabled",
                                                     "IsTemplate",
                                                     "AddressesInvalid"};
constexpr std::string_view kPoolsWaitForPeople[] = {reasons::kUnknownValue, reasons::kLabelConflict,
                                                    reasons::kPoolLabelKeyReserved, reasons::kLabelInvalid,
                                                    reasons::kProviderNotFound};
// A provider or host may recover from these reasons by itself, and from an outage if it is short.
constexpr std::string_view kProvidersRecoverFrom[] = {reasons::kNotReconciled, reasons::kImagePreparing,
                                                      reasons::kDeleting};
constexpr std::string_view kHostsRecoverFrom[] = {reasons::kBackingOff, "Discovering"};
constexpr std::string_view kOutages[] = {reasons::kUnreachable, "NoQuorum"};
constexpr std::string_view kTurnedOff[] = {reasons::kNotSelected, reasons::kPaused, reasons::kObserve,
                                           kInMaintenance};

template <std::size_t N>
bool is_among(const std::string_view (&known)[N], std::string_view reason) {
    return std::find(std::begin(known), std::end(known), reason) != std::end(known);
}

const Condition* ready_in(const Conditions& conditions) {
    return api::find_condition(conditions, conditions::kReady);
}

bool lacks_ready(const Conditions& conditions) {
    const auto* ready = ready_in(conditions);
    return !ready || ready->status != ConditionStatus::True;
}

// Reports whether the object is not Ready because of an outage that may be over soon. An outage lasts since
// the object was Ready or its endpoint answered, whichever is later.
bool has_short_outage(const Conditions& conditions, api::Time now) {
    const auto* ready = ready_in(conditions);
    if (!is_among(kOutages, ready->reason)) return false;
    const auto* reachable = api::find_condition(conditions, conditions::kReachable);
    auto since = ready->lastTransitionTime;
    if (reachable && reachable->status == ConditionStatus::False)
        since = std::max(since, reachable->lastTransitionTime);
    return !since || now.at < since->at + kShortOutage;
}

void write(Conditions& conditions, ConditionUpdate update, std::optional<std::int64_t> generation,
           api::Time now) {
    update.observedGeneration = generation;
    api::set_condition(conditions, update, now);
}

// Sets the conditions with reason and message of `why`. While the object is being deleted, the reason is
// Deleting.
template <class T>
void set_course(T& object, Course course, Condition why, api::Time now) {
    if (object.metadata.deletionTimestamp) why.reason = reasons::kDeleting;
    auto& all = object.status.conditions;
    const auto note = [&](std::string_view type, bool holds) {
        if (holds)
            write(all, update(type, ConditionStatus::True, why.reason, why.message),
                  object.metadata.generation, now);
        else
            api::remove_condition(all, type);
    };
    note(conditions::kReconciling, course == Course::goes_on);
    note(conditions::kStalled, course == Course::stalled);
}

ConditionUpdate unready(std::string_view reason, std::string message) {
    return update(conditions::kReady, ConditionStatus::False, reason, std::move(message));
}

ConditionUpdate unready_as(const Condition& condition) {
    return unready(condition.reason, condition.message);
}

// Returns Ready for a claim that is ending, or whose failed attempt is being cleaned up.
ConditionUpdate ready_while_leaving(const NodeSmithClaim& claim) {
    const auto& all = claim.status.conditions;
    const bool is_deleted = claim.metadata.deletionTimestamp.has_value();
    const auto* gone = api::find_condition(all, conditions::kMachineDeleted);
    if (!is_deleted && gone && gone->reason == reasons::kMachineVanished) return unready_as(*gone);
    for (const auto type : {conditions::kDrained, conditions::kMachineDeleted}) {
        const auto* condition = api::find_condition(all, type);
        if (!condition || condition->status == ConditionStatus::True) continue;
        const auto* launched = api::find_condition(all, conditions::kLaunched);
        // The reason of a failed attempt matters more than its cleanup.
        const bool tells_failure = !is_deleted && condition->reason == reasons::kAttemptFailed && launched;
        return unready_as(tells_failure ? *launched : *condition);
    }
    if (gone && gone->reason == claim::kNodeTerminating) return unready_as(*gone);
    if (is_deleted) return unready(reasons::kDeleting, "the claim is being deleted");
    const auto* launched = api::find_condition(all, conditions::kLaunched);
    return launched ? unready_as(*launched) : unready(reasons::kAttemptFailed, "a new attempt begins");
}

struct CourseStage {
    std::string_view type;
    std::string_view reason;  // used until the condition exists
    const char* message;
};
constexpr CourseStage kStages[] = {
    {conditions::kLaunched, reasons::kWaiting, "the creation of its machine has not begun yet"},
    {conditions::kRegistered, reasons::kNodeNotFound, "its machine runs and has yet to join as a Node"},
    {conditions::kInitialized, reasons::kNodeNotReady, "its Node has joined and is not Ready yet"},
};

ConditionUpdate ready_of(const NodeSmithClaim& claim, std::optional<bool> node_ready,
                         const std::string& node_refusal) {
    const auto& all = claim.status.conditions;
    const auto* failed = api::find_condition(all, conditions::kFailed);
    if (failed && failed->status == ConditionStatus::True) return unready_as(*failed);
    if (claim.metadata.deletionTimestamp || api::find_condition(all, conditions::kMachineDeleted))
        return ready_while_leaving(claim);
    const auto* adopted = api::find_condition(all, conditions::kAdopted);
    if (adopted && adopted->status == ConditionStatus::False) return unready_as(*adopted);
    for (const auto& stage : kStages) {
        const auto* condition = api::find_condition(all, stage.type);
        if (!condition) return unready(stage.reason, stage.message);
        if (condition->status != ConditionStatus::True) return unready_as(*condition);
    }
    if (!node_refusal.empty()) return unready(reasons::kNodeIdentityMismatch, node_refusal);
    const auto* known = ready_in(all);
    const bool was_ready = known && known->status == ConditionStatus::True;
    if (node_ready.value_or(was_ready))
        return update(conditions::kReady, ConditionStatus::True, reasons::kReady, "the Node is in service");
    return unready(reasons::kNodeNotReady, "the Node is not Ready");
}

Course course_of(const NodeSmithClaim& claim) {
    const auto& all = claim.status.conditions;
    if (claim.metadata.deletionTimestamp) return Course::goes_on;
    if (api::is_true(all, conditions::kFailed) || api::is_true(all, conditions::kKeptForVolumes))
        return Course::stalled;
    const auto* ready = ready_in(all);
    if (is_among(kClaimsWaitForPeople, ready->reason)) return Course::stalled;
    const bool is_leaving = api::is_true(all, conditions::kDisrupted);
    return ready->status == ConditionStatus::True && !is_leaving ? Course::settled : Course::goes_on;
}

Course course_of(const NodeSmithPool& pool, const NodeSmithProvider* provider) {
    const auto& all = pool.status.conditions;
    if (pool.metadata.deletionTimestamp) return Course::goes_on;
    const auto& reason = ready_in(all)->reason;
    if (is_turned_off(reason)) return Course::settled;
    if (is_among(kPoolsWaitForPeople, reason)) return Course::stalled;
    if (lacks_ready(all))
        return provider && is_stalled(provider->status.conditions) ? Course::stalled : Course::goes_on;
    const auto* available = api::find_condition(all, conditions::kAvailable);
    const bool is_refused = available && (available->reason == reasons::kRequestRefused ||
                                          available->reason == reasons::kClaimsRefused);
    if (is_refused) return Course::stalled;
    // Pods' demand fluctuates, so only the manifest's minimum counts.
    return pool.status.readyNodes < pool.spec.limits.minNodes ? Course::goes_on : Course::settled;
}

Course course_of(const NodeSmithProvider& provider, api::Time now) {
    if (provider.metadata.deletionTimestamp) return Course::goes_on;
    const auto* ready = ready_in(provider.status.conditions);
    if (ready->status == ConditionStatus::True) return Course::settled;
    const bool may_recover =
        is_among(kProvidersRecoverFrom, ready->reason) || has_short_outage(provider.status.conditions, now);
    return may_recover ? Course::goes_on : Course::stalled;
}

Course course_of(const NodeSmithHost& host, api::Time now) {
    if (host.metadata.deletionTimestamp) return Course::goes_on;
    const auto* ready = ready_in(host.status.conditions);
    if (ready->status == ConditionStatus::True) return Course::settled;
    const auto phase = host.status.phase.value_or(HostPhase::Discovering);
    const bool waits_for_people = phase == HostPhase::Quarantined || phase == HostPhase::Foreign;
    const bool may_recover =
        is_among(kHostsRecoverFrom, ready->reason) || has_short_outage(host.status.conditions, now);
    return waits_for_people && !may_recover ? Course::stalled : Course::goes_on;
}

}  // namespace

bool is_stalled(const Conditions& conditions) {
    return api::is_true(conditions, conditions::kStalled);
}

bool is_turned_off(std::string_view reason) {
    return is_among(kTurnedOff, reason);
}

bool is_fit_for_use(const NodeSmithHost& host) {
    const auto* ready = ready_in(host.status.conditions);
    return ready && ready->status == ConditionStatus::True && !is_turned_off(ready->reason);
}

void conclude(NodeSmithClaim& claim, std::optional<bool> node_ready, api::Time now,
              const std::string& node_refusal) {
    claim.status.observedGeneration = claim.metadata.generation;
    write(claim.status.conditions, ready_of(claim, node_ready, node_refusal), claim.metadata.generation, now);
    auto why = *ready_in(claim.status.conditions);
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    if (why.status == ConditionStatus::True && disrupted) why = *disrupted;
    if (const auto* kept = api::find_condition(claim.status.conditions, conditions::kKeptForVolumes))
        why = *kept;
    set_course(claim, course_of(claim), why, now);
}

void conclude(NodeSmithProvider& provider, api::Time now) {
    set_course(provider, course_of(provider, now), *ready_in(provider.status.conditions), now);
}

void conclude(NodeSmithPool& pool, const NodeSmithProvider* provider, api::Time now) {
    const auto course = course_of(pool, provider);
    auto why = *ready_in(pool.status.conditions);
    const auto* available = api::find_condition(pool.status.conditions, conditions::kAvailable);
    if (why.status == ConditionStatus::True && course == Course::stalled) why = *available;
    if (why.status == ConditionStatus::True && course == Course::goes_on) {
        why.reason = reasons::kScalingUp;
        why.message = std::to_string(pool.status.readyNodes) + " of the " +
                      std::to_string(pool.spec.limits.minNodes) + " nodes of limits.minNodes are Ready";
        if (available && available->status != ConditionStatus::True) why.message += ": " + available->message;
    }
    set_course(pool, course, why, now);
}

void conclude(NodeSmithControlPlane& control_plane, bool waits_for_provider, api::Time now) {
    const auto ready = *ready_in(control_plane.status.conditions);
    auto course = ready.status == ConditionStatus::True ? Course::settled : Course::stalled;
    const bool may_pass = ready.status == ConditionStatus::Unknown ||
                          ready.reason == reasons::kImagePreparing ||
                          (ready.reason == reasons::kProviderInitializationFailed && waits_for_provider);
    if (control_plane.metadata.deletionTimestamp || (course == Course::stalled && may_pass))
        course = Course::goes_on;
    set_course(control_plane, course, ready, now);
}

void conclude(NodeSmithHost& host, api::Time now) {
    set_course(host, course_of(host, now), *ready_in(host.status.conditions), now);
}

void conclude_unmanaged(Conditions& all, std::optional<std::int64_t> generation, const std::string& message,
                        api::Time now) {
    const auto reason = reasons::kNamespaceNotManaged;
    write(all, unready(reason, message), generation, now);
    write(all, update(conditions::kStalled, ConditionStatus::True, reason, message), generation, now);
    api::remove_condition(all, conditions::kReconciling);
}

}  // namespace controllers
