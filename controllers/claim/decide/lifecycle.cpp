#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/claim/state/doubtful_machine.hpp"

#include <algorithm>
#include <iterator>

#include "controllers/claim/decide/boot_evidence.hpp"
#include "controllers/claim/decide/cleanup.hpp"
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/claim/decide/launch.hpp"
#include "controllers/claim/decide/registration.hpp"
#include "controllers/claim/decide/vanished.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/facts/template_hash.hpp"

namespace controllers::claim {

namespace {

constexpr std::string_view kUpToDate = "UpToDate";
// Objects that cannot be decoded and have no known version may come and go without a sign.
constexpr std::chrono::minutes kLookForOddObjects{1};

// Decides about a retained machine that was taken up again and did not join in time. A claim that a person
// created is theirs to delete, as nothing would replace it, and goes on if the machine joins after all.
Decision decide_absent(const Situation& s) {
    Decision decision{Step::delete_claim, s.claim.status, std::nullopt};
    if (api::controller_of(s.claim.metadata)) return decision;
    decision.step = Step::nothing;
    if (s.node) {
        api::remove_condition(decision.status.conditions, conditions::kMachineDeleted);
        api::remove_condition(decision.status.conditions, conditions::kFailed);
        return decision;
    }
    set(decision.status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kAttemptFailed,
        machine_text(s) +
            " may have served before the claim lost its status, and did not join again. deletionPolicy is "
            "Retain, so it stays: delete the claim, and the machine is no longer managed",
        s.now);
    return decision;
}

// Decides about a failed claim, or a failed attempt of a live one.
Decision decide_failed(const Situation& s) {
    const auto& claim = s.claim;
    // Another attempt would destroy the machine. The claim is replaced instead, and the machine stays.
    const bool is_taken_up =
        is_true(claim, conditions::kStatusLost) && !is_true(claim, conditions::kMachineDeleted);
    if (is_taken_up && is_retained(s)) return decide_absent(s);
    if (!is_true(claim, conditions::kFailed)) {
        Decision again{Step::nothing, claim.status, std::nullopt};
        forget_attempt(again.status, s.pool ? s.pool->spec.scaleUp.retry : api::v1alpha1::Retry{}, s.now);
        again.look_again = again.status.nextRetryTime;
        return decide_cleanup(s, again);
    }
    if (is_kept(claim)) return decide_kept(s);
    auto ends = later(since(claim.status, conditions::kFailed).value_or(s.now), kFailedClaimsKept);
    Decision rest{ends <= s.now ? Step::delete_claim : Step::nothing, claim.status, ends};
    if (!is_true(claim, conditions::kMachineDeleted)) {
        set(rest.status, conditions::kMachineDeleted, ConditionStatus::True, reasons::kNothingLaunched,
            "no machine was created", s.now);
    }
    return decide_cleanup(s, rest);
}

// Reports whether the machine was migrated; the status, and then the Node's labels, follow. It also covers a
// machine on a cluster that a person has declared to be the provider's.
bool has_moved(const Situation& s) {
    if (is_true(s.claim, conditions::kMachineDeleted)) return false;
    const auto& status = s.claim.status;
    const bool is_on_other_host = !s.machine.host.empty() && s.machine.host != status.host;
    const bool is_on_other_cluster = !s.machine.cluster.empty() && s.machine.cluster != status.cluster;
    return (is_on_other_host && is_true(s.claim, conditions::kLaunched)) || is_on_other_cluster;
}

Decision decide_moved(const Situation& s) {
    Decision decision{Step::nothing, s.claim.status, std::nullopt};
    if (!s.machine.host.empty()) decision.status.host = s.machine.host;
    if (!s.machine.cluster.empty()) decision.status.cluster = s.machine.cluster;
    if (!s.machine.zone.empty()) decision.status.zone = s.machine.zone;
    return decision;
}

// Reports whether someone else removed the Node or the machine. The claim then
// ends, and its pods are demand again.
bool is_replaced(const ClaimStatus& status) {
    return has_reason(status, conditions::kDisrupted, reasons::kNodeDeleted) ||
           has_reason(status, conditions::kDisrupted, reasons::kMachineVanished);
}

// Decides about a replaced node. A deleted Node may return with its data when its kubelet restarts.
Decision decide_replaced(const Situation& s) {
    Decision decision{Step::delete_claim, s.claim.status, std::nullopt};
    if (!has_reason(s.claim.status, conditions::kDisrupted, reasons::kNodeDeleted)) return decision;
    if (s.node && is_kept_for_volumes(s.claim)) {
        decision.step = Step::nothing;
        api::remove_condition(decision.status.conditions, conditions::kDisrupted);
        api::remove_condition(decision.status.conditions, conditions::kKeptForVolumes);
    } else if (!s.held_volumes.empty()) {
        decision.step = Step::nothing;
        keep_for_volumes(decision.status, s,
                         "its Node was deleted, and comes back if its kubelet is started again");
        decision.look_again = later(s.now, kLookForOddObjects);
    }
    return decision;
}

// Records since when the node is empty or underused, and how it has drifted.
void note_use(ClaimStatus& status, const Situation& s) {
    if (!s.use || s.claim.metadata.deletionTimestamp) return;
    status.emptySince = s.use->empty_since;
    status.unneededSince = s.use->unneeded_since;
    const bool drifted = !s.use->drift.empty();
    if (!drifted && !api::find_condition(status.conditions, conditions::kDrifted)) return;
    set(status, conditions::kDrifted, drifted ? ConditionStatus::True : ConditionStatus::False,
        drifted ? reasons::kDrifted : kUpToDate,
        drifted ? s.use->drift : "the node matches the current settings of its pool and provider", s.now);
}

// Records that two machines report the same identity.
void note_contest(ClaimStatus& status, const Situation& s) {
    if (s.contest.empty())
        api::remove_condition(status.conditions, conditions::kIdentityContested);
    else
        set(status, conditions::kIdentityContested, ConditionStatus::True, reasons::kSameSystemUUID,
            s.contest, s.now);
}

// Renews a hash that another version of the operator wrote. The machine then counts as made
// from the pool's present settings.
void renew_hash(ClaimStatus& status, const Situation& s) {
    if (status.templateHash.empty() || is_comparable(status.templateHash)) return;
    if (s.pool && s.provider && !s.claim.metadata.deletionTimestamp)
        status.templateHash = template_hash(*s.pool, s.provider);
}

// Decides about a claim whose pool exists but is not known, as it could never be decoded. The defaults of its
// settings could destroy the machine too early. The wait is told at a stage that has begun: the beginning of
// another one would set its deadline.
Decision decide_without_settings(const Situation& s) {
    const auto& claim = s.claim;
    Decision decision{Step::nothing, claim.status, later(s.now, kLookForOddObjects)};
    if (is_kept(claim)) return decision;
    const auto why =
        "pool " + claim.spec.poolRef +
        " cannot be decoded, so nothing is done with the machine: the pool's Event CannotBeDecoded "
        "names the field to correct";
    const bool is_leaving = claim.metadata.deletionTimestamp ||
                            api::find_condition(claim.status.conditions, conditions::kMachineDeleted);
    const std::vector<std::string_view> stages =
        is_leaving ? std::vector{conditions::kDrained, conditions::kMachineDeleted}
                   : std::vector{conditions::kLaunched, conditions::kRegistered, conditions::kInitialized};
    for (const auto type : stages) {
        const auto* stage = api::find_condition(claim.status.conditions, type);
        if (!stage || stage->status == ConditionStatus::True) continue;
        set(decision.status, type, stage->status, stage->reason, why, s.now);
        break;
    }
    return decision;
}

Decision decide_stage(const Situation& s) {
    const auto& claim = s.claim;
    if (s.is_pool_unreadable) return decide_without_settings(s);
    if (has_moved(s)) return decide_moved(s);
    if (claim.metadata.deletionTimestamp) return decide_removal(s);
    if (!api::has_finalizer(claim.metadata, api::finalizers::kClaim)) {
        return {Step::add_finalizer, claim.status, std::nullopt};
    }
    if (is_unadopted(claim.status)) return {Step::adopt, claim.status, std::nullopt};
    if (has_vanished(s)) return decide_vanished(s);
    if (is_true(claim, conditions::kFailed)) return decide_failed(s);
    if (is_replaced(claim.status)) return decide_replaced(s);
    if (api::find_condition(claim.status.conditions, conditions::kMachineDeleted)) return decide_failed(s);
    if (!is_true(claim, conditions::kLaunched)) return decide_launch(s);
    if (!is_true(claim, conditions::kRegistered)) return decide_registration(s);
    return decide_service(s);
}

}  // namespace

namespace {

// Reports whether the claim, by its status, creates a machine or ends without one. A deleted claim begins no
// attempt, so it has nothing after a removal that is younger than its deletion.
bool shows_no_machine(const Situation& s) {
    const auto& status = s.claim.status;
    const auto& deleted_at = s.claim.metadata.deletionTimestamp;
    if (is_true(s.claim, conditions::kFailed) || is_unadopted(status)) return false;
    if (is_true(s.claim, conditions::kMachineDeleted)) {
        const auto removed_at = since(status, conditions::kMachineDeleted);
        return !deleted_at || !removed_at || *removed_at < *deleted_at;
    }
    if (status.machineID.empty()) return true;
    return !deleted_at && !is_true(s.claim, conditions::kLaunched) &&
           !api::find_condition(status.conditions, conditions::kMachineDeleted);
}

// Keeps the words of a refused change to the Node while the same change is due. It is repeated after growing
// pauses, in which a person would otherwise see only what waits for it.
void keep_refusal(Decision& decision, const ClaimStatus& before) {
    constexpr Step kNodeChanges[] = {Step::register_node, Step::put_back, Step::taint_node,
                                     Step::untaint_node, Step::release_node};
    if (std::ranges::find(kNodeChanges, decision.step) == std::end(kNodeChanges)) return;
    for (auto& condition : decision.status.conditions) {
        const auto* old = api::find_condition(before.conditions, condition.type);
        const bool is_refused = old && old->reason == reasons::kRequestRefused;
        if (is_refused && old->status == condition.status && old->status != ConditionStatus::True)
            condition = *old;
    }
}

}  // namespace

// Reports a possible loss of status. A claim is new only to the process that was there when it was created. A
// status that another process wrote may come from a backup, so it is no proof that no later machine exists. A
// doubtful machine stays doubtful until it is settled.
bool may_have_lost_status(const Situation& s) {
    const auto& metadata = s.claim.metadata;
    const auto& status = s.claim.status;
    const bool has_begun = !status.machineID.empty() || status.launchAttempts > 0 || is_unadopted(status) ||
                           api::find_condition(status.conditions, conditions::kMachineDeleted);
    if (!api::has_finalizer(metadata, api::finalizers::kClaim)) return false;
    if (metadata.deletionTimestamp && stated_gone(s)) return false;
    if (s.went_back) return true;
    if (s.is_unchecked && shows_no_machine(s)) return true;
    if (has_begun) return false;
    if (has_doubtful_machine(status)) return true;
    return metadata.deletionTimestamp && !api::find_condition(status.conditions, conditions::kLaunched);
}

Decision decide(const Situation& s) {
    auto decision = decide_stage(s);
    keep_refusal(decision, s.claim.status);
    note_use(decision.status, s);
    note_doubt(decision.status, s);
    note_contest(decision.status, s);
    renew_hash(decision.status, s);
    if (is_true(s.claim, conditions::kRegistered))
        api::remove_condition(decision.status.conditions, conditions::kStatusLost);
    if (s.node && !s.claim.status.nodeName.empty() && !s.claim.metadata.deletionTimestamp)
        decision.status.volumePlaces = s.volume_places;
    if (s.claim.metadata.deletionTimestamp || loses_machine(s.claim))
        api::remove_condition(decision.status.conditions, conditions::kPoweredOff);
    // A person who deletes a claim gives up the volumes on its machine's disk.
    if (s.held_volumes.empty() || s.claim.metadata.deletionTimestamp)
        api::remove_condition(decision.status.conditions, conditions::kKeptForVolumes);
    return decision;
}

void keep_for_volumes(ClaimStatus& status, const Situation& s, const std::string& why) {
    const auto& metadata = s.claim.metadata;
    set(status, conditions::kKeptForVolumes, ConditionStatus::True, reasons::kLocalVolumes,
        "machine " + status.machineID + " on host " + status.host + " is kept (" + why +
            "): " + s.held_volumes + " can be used there only. It counts against the limits. " +
            std::string("To give up the data and remove the machine: kubectl annotate nodesmithclaim ") +
            metadata.name + " -n " + metadata.namespace_ + " " +
            std::string(api::annotations::kLocalVolumes) + "=" + std::string(api::annotations::kDiscard),
        s.now);
}

ClaimStatus after_refusal(const Situation& s, const std::string& message) {
    auto status = s.claim.status;
    const bool leaving = s.claim.metadata.deletionTimestamp ||
                         api::find_condition(status.conditions, conditions::kMachineDeleted);
    const std::string_view coming[] = {conditions::kLaunched, conditions::kRegistered,
                                       conditions::kInitialized};
    const std::string_view going[] = {conditions::kDrained, conditions::kMachineDeleted};
    auto note_first = [&](const auto& stages) {
        for (auto type : stages) {
            if (api::is_true(status.conditions, type)) continue;
            const auto* old = api::find_condition(status.conditions, type);
            set(status, type, old ? old->status : ConditionStatus::False, reasons::kRequestRefused, message,
                s.now);
            return;
        }
    };
    leaving ? note_first(going) : note_first(coming);
    return status;
}

bool annotated_gone(const NodeSmithClaim& claim) {
    const auto* annotation = api::find(claim.metadata.annotations, api::annotations::kMachineGone);
    return annotation && *annotation == "true";
}

bool stated_gone(const Situation& s) {
    if (annotated_gone(s.claim)) return true;
    if (!s.node) return false;
    for (const auto& taint : s.node->spec.taints) {
        if (taint.key == api::taints::kOutOfService) return true;
    }
    return false;
}

}  // namespace controllers::claim
