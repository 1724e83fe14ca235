#include "controllers/claim/decide/cleanup.hpp"

#include "base/text.hpp"
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/claim/decide/launch.hpp"
#include "controllers/claim/decide/vanished.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"

namespace controllers::claim {

namespace {

constexpr auto kTaintSettles = std::chrono::seconds{2};
// Limits how long a machine usually takes to be shut down, stopped and destroyed. Afterwards pods no longer
// wait for the claim's next attempt.
constexpr api::Duration kRemovalTakes(std::chrono::minutes{5});
constexpr std::string_view kRemovalStalled = "RemovalStalled";

bool is_marked_leaving(const Situation& s) {
    return leaving(*s.node, {s.claim, s.pool, ""}) == *s.node;
}

// Reports whether the provider was asked to remove the machine. From then on the removal cannot be undone.
bool removal_begun(const ClaimStatus& status) {
    const auto* deleted = api::find_condition(status.conditions, conditions::kMachineDeleted);
    return deleted && deleted->reason != reasons::kAttemptFailed;
}

bool removal_ended(const ClaimStatus& status) {
    return api::is_true(status.conditions, conditions::kMachineDeleted);
}

api::Duration detach_timeout(const Situation& s) {
    return s.pool ? s.pool->spec.scaleDown.volumeDetachTimeout
                  : api::v1alpha1::ScaleDown{}.volumeDetachTimeout;
}

// Reports whether the removal must wait for volumes. Otherwise it records in the status how the wait ended.
bool waits_for_volumes(Decision& decision, const Situation& s) {
    auto& status = decision.status;
    if (!s.volumes_attached) {
        set(status, conditions::kVolumesDetached, ConditionStatus::True, reasons::kVolumesDetached,
            "no volume is attached to the Node", s.now);
        return false;
    }
    auto deadline = later(since(status, conditions::kDrained).value_or(s.now), detach_timeout(s));
    if (deadline <= s.now) {
        set(status, conditions::kVolumesDetached, ConditionStatus::False, reasons::kVolumeDetachTimeout,
            "volumes were still attached after " + detach_timeout(s).str() +
                "; the machine is removed anyway",
            s.now);
        return false;
    }
    set(status, conditions::kVolumesDetached, ConditionStatus::False, reasons::kVolumesAttached,
        "waiting for the volumes of the Node to be detached", s.now);
    decision.look_again = deadline;
    return true;
}

// Reports whether the machine of a failed attempt joined after all before its removal, so that it may run
// pods. A task that ends it may fail, and a launch task may still be recorded.
bool joined_meanwhile(const Situation& s) {
    return !is_true(s.claim, conditions::kRegistered) && !is_true(s.claim, conditions::kDrained) &&
           is_ready(*s.node);
}

// Explains how a person can settle a doubt. A Node that may be the machine's is not drained on
// suspicion, and its machine is not removed.
std::string how_to_settle(const Situation& s) {
    return s.node_refusal + "; if the machine is gone, annotate the claim with " +
           std::string(api::annotations::kMachineGone) + "=true";
}

// Reports whether the statement that the machine is gone ends its service. A reporting kubelet contradicts
// it: somebody named the wrong claim, and the provider would stop a machine under its pods. Kubernetes also
// ignores the out-of-service taint of a Node that is Ready. The Node of a machine that is gone is not Ready
// within a minute.
bool is_believed_gone(const Situation& s) {
    return stated_gone(s) && !(s.node && is_ready(*s.node));
}

// Decides what must happen while the machine still runs; nullopt: nothing is left to do.
std::optional<Decision> leave_service(const Situation& s) {
    if (removal_ended(s.claim.status) || is_believed_gone(s)) return std::nullopt;
    Decision decision{Step::taint_node, s.claim.status, std::nullopt};
    if (!s.node) {
        const bool is_idle = s.claim.status.machineID.empty() || is_true(s.claim, conditions::kDrained);
        if (is_idle || removal_begun(s.claim.status)) return std::nullopt;
        // Without a machine there is nothing to drain first, whosever the Node is.
        const bool is_proven_gone = s.machine.is_gone && s.machine.doubt.empty();
        if (!s.node_refusal.empty() && is_proven_gone) return std::nullopt;
        if (!s.node_refusal.empty()) {
            set(decision.status, conditions::kDrained, ConditionStatus::False, reasons::kNodeIdentityMismatch,
                how_to_settle(s), s.now);
            decision.step = Step::nothing;
            return decision;
        }
        // A Node that served does not vanish from the cache without reason. The cache may lack one
        // that has just joined, whose pods must not be forgotten. Once the token is revoked, no
        // machine joins after that look.
        if (is_true(s.claim, conditions::kRegistered)) {
            decision.step = Step::confirm_node_gone;
        } else if (!s.claim.status.bootstrapTokenID.empty()) {
            decision.step = Step::revoke_token;
        } else {
            decision.step = Step::look_for_node;
        }
        return decision;
    }
    if (!is_marked_leaving(s)) return decision;
    if (removal_begun(s.claim.status) && !joined_meanwhile(s)) return std::nullopt;
    const bool is_drained = is_true(s.claim, conditions::kDrained);
    // While the machine was kept, the pods that use its volumes stayed. Who deletes the claim gives them up.
    const bool has_spared_pods = is_kept_for_volumes(s.claim) && s.claim.metadata.deletionTimestamp;
    if (is_drained && has_spared_pods)
        set(decision.status, conditions::kDrained, ConditionStatus::False, reasons::kDraining,
            "the claim is deleted, and with it the volumes for which its machine was kept", s.now);
    if (!is_drained || has_spared_pods) {
        decision.step = Step::drain;
        return decision;
    }
    decision.step = Step::nothing;
    if (waits_for_volumes(decision, s)) return decision;
    // The end of the wait is recorded together with the intent to remove the machine.
    decision.step = Step::remove_machine;
    return decision;
}

// Records the intent to remove or stop the machine. An obstacle to an earlier attempt
// stays recorded until the next attempt.
void intend_removal(ClaimStatus& status, const Situation& s) {
    const bool is_to_stay = shall_keep(s);
    const auto intent = is_to_stay ? kStopping : reasons::kDeleting;
    const bool is_another = is_to_stay ? has_reason(status, conditions::kMachineDeleted, reasons::kDeleting)
                                       : has_reason(status, conditions::kMachineDeleted, kStopping) ||
                                             has_reason(status, conditions::kMachineDeleted, reasons::kKept);
    if (removal_begun(status) && !is_another) return;
    set(status, conditions::kMachineDeleted, ConditionStatus::False, intent,
        "machine " + status.machineID + " on host " + status.host +
            (is_to_stay ? " is being stopped and will be kept for inspection" : " is being removed"),
        s.now);
}

// Reports whether the machine waits for a person to decide about the volumes on its disk. The
// provider was not asked to remove it yet.
bool is_held(const Situation& s) {
    return !s.held_volumes.empty() && !s.claim.metadata.deletionTimestamp && !removal_begun(s.claim.status);
}

Decision decide_release(const Situation& s) {
    Decision decision{Step::drop_finalizer, s.claim.status, std::nullopt};
    if (!removal_ended(s.claim.status)) {
        decision.step = Step::release_machine;
        // An obstacle to a running release stays recorded until the next attempt.
        if (!removal_begun(s.claim.status))
            set(decision.status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kRetained,
                "deletionPolicy is Retain: the machine and its Node are kept and no longer managed", s.now);
    } else if (s.node && api::find(s.node->metadata.labels, api::labels::kClaim)) {
        decision.step = Step::release_node;
    } else if (!s.claim.status.bootstrapTokenID.empty()) {
        decision.step = Step::revoke_token;
    }
    return decision;
}

// A finalizer usually keeps a deleted Node for seconds.
constexpr api::Duration kNodeEnds(std::chrono::minutes{1});

// Waits for a deleted Node that finalizers of other programs keep. If such a program is gone, only a person
// can remove its finalizer.
Decision wait_for_end_of(const api::Node& node, const Situation& s) {
    Decision wait{Step::nothing, s.claim.status, later(*node.metadata.deletionTimestamp, kNodeEnds)};
    if (s.now < *wait.look_again) return wait;
    wait.look_again.reset();
    set(wait.status, conditions::kMachineDeleted, ConditionStatus::True, kNodeTerminating,
        "the machine is gone, but its Node " + node.metadata.name +
            " is kept by finalizers of other programs (" + base::joined(node.metadata.finalizers) +
            "); if they are not removed by themselves, remove them from the Node",
        s.now);
    return wait;
}

// Reports whether the Node that the claim was registered with must be deleted. Once it is deleted, another
// Node with the machine's UUID is a stranger's, because the machine is gone.
bool has_node_to_delete(const Situation& s) {
    if (s.namesake && s.namesake_is_leftover) return true;
    const auto& noted = s.claim.status.nodeName;
    return s.node && (noted.empty() || s.node->metadata.name == noted);
}

}  // namespace

// A claim that lost its status has a Node all the same, or says that it took up a machine that may have
// served.
bool is_retained(const Situation& s) {
    const bool may_have_served =
        is_true(s.claim, conditions::kRegistered) || s.node || is_true(s.claim, conditions::kStatusLost);
    return s.claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain && may_have_served;
}

Decision decide_cleanup(const Situation& s, const Decision& done) {
    const auto& status = s.claim.status;
    auto service = leave_service(s);
    if (service && service->step != Step::remove_machine) return *service;
    if (!status.machineID.empty() && !removal_ended(status)) {
        if (is_elsewhere(s) && !stated_gone(s)) {
            Decision wait{Step::nothing, status, std::nullopt};
            set(wait.status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kOtherCluster,
                elsewhere_text(s), s.now);
            return wait;
        }
        if (is_held(s)) {
            Decision held{Step::nothing, status, std::nullopt};
            keep_for_volumes(held.status, s, "its attempt failed");
            return held;
        }
        Decision decision = service.value_or(Decision{Step::remove_machine, status, std::nullopt});
        if (shall_keep(s)) decision.step = Step::stop_machine;
        intend_removal(decision.status, s);
        return decision;
    }
    if (has_node_to_delete(s)) {
        const auto& node = s.node ? *s.node : *s.namesake;
        if (!node.metadata.deletionTimestamp) return {Step::delete_node, status, std::nullopt};
        // The token is revoked now, as the Node may be kept for long.
        if (status.bootstrapTokenID.empty()) return wait_for_end_of(node, s);
    }
    if (!status.bootstrapTokenID.empty()) return {Step::revoke_token, status, std::nullopt};
    return done;
}

Decision decide_removal(const Situation& s) {
    const auto& claim = s.claim;
    if (!api::has_finalizer(claim.metadata, api::finalizers::kClaim))
        return {Step::nothing, claim.status, {}};
    if (is_unadopted(claim.status) && !stated_gone(s)) return {Step::adopt, claim.status, std::nullopt};
    if (is_retained(s)) return decide_release(s);
    return decide_cleanup(s, {Step::drop_finalizer, claim.status, std::nullopt});
}

DrainRequest drain_request(const Situation& s) {
    DrainRequest request;
    request.node = s.node->metadata.name;
    request.began = since(s.claim.status, conditions::kDrained);
    if (!s.claim.metadata.deletionTimestamp) request.spared = s.tied_pods;
    if (const auto kind = disruption::under_way(s.claim)) {
        request.deadline =
            disruption::drain_deadline(s.claim, s.pool ? s.pool->spec.scaleDown : api::v1alpha1::ScaleDown{});
        const bool is_broken = *kind == disruption::Kind::Unhealthy;
        request.kind = is_broken ? DrainRequest::Kind::forced_by_user : DrainRequest::Kind::voluntary;
        return request;
    }
    request.kind = DrainRequest::Kind::forced_by_user;
    auto begin = s.claim.metadata.deletionTimestamp;
    if (!begin) begin = since(s.claim.status, conditions::kMachineDeleted);
    const auto& grace = s.claim.spec.terminationGracePeriod;
    if (grace && begin) request.deadline = later(*begin, *grace);
    return request;
}

namespace {

constexpr api::Duration kDrainTakes(std::chrono::minutes{5});

// Returns why the drain is not finished. The machine of a failed attempt may have joined after all.
// The budgets of its pods may then need a pod that waits for this claim. A dead kubelet ends no pod
// before its grace period, if ever.
std::string_view why_not_drained(const Situation& s, const DrainProgress& progress) {
    const bool is_between_attempts = !s.claim.metadata.deletionTimestamp &&
                                     api::is_false(s.claim.status.conditions, conditions::kMachineDeleted);
    const auto begun = since(s.claim.status, conditions::kDrained);
    const bool is_stalled = is_between_attempts && begun && later(*begun, kDrainTakes) <= s.now;
    if (is_stalled) return reasons::kDrainStalled;
    if (progress.fails) return reasons::kEvictionFailed;
    return progress.blocked.empty() ? reasons::kDraining : reasons::kBlockedByBudget;
}

}  // namespace

ClaimStatus after_drain(const Situation& s, const DrainProgress& progress) {
    auto status = s.claim.status;
    auto begin = since(status, conditions::kDrained);
    // A disruption drains only after its taint has settled.
    const bool settled = disruption::under_way(s.claim) || (begin && later(*begin, kTaintSettles) <= s.now);
    if (progress.done && settled) {
        set(status, conditions::kDrained, ConditionStatus::True, reasons::kDrained, progress.message(),
            s.now);
        // Both are written at once. A claim that is deleted meanwhile then tells that pods were spared.
        const auto kind = disruption::under_way(s.claim);
        if (kind && !s.held_volumes.empty() && disruption::keeps_machine_for_volumes(*kind))
            keep_for_volumes(status, s, std::string(disruption::name_of(*kind)));
    } else if (progress.done) {
        set(status, conditions::kDrained, ConditionStatus::False, reasons::kDraining,
            "the Node no longer takes new pods", s.now);
    } else {
        set(status, conditions::kDrained, ConditionStatus::False, why_not_drained(s, progress),
            progress.message(), s.now);
    }
    return status;
}

ClaimStatus after_vain_search(const Situation& s) {
    auto status = s.claim.status;
    intend_removal(status, s);
    return status;
}

void note_stated_gone(ClaimStatus& status, api::Time now) {
    set(status, conditions::kMachineDeleted, ConditionStatus::True, reasons::kStatedGone,
        "the user states that the machine is gone", now);
}

ClaimStatus after_removal(const Situation& s, const providers::RemoveResult& result) {
    auto status = s.claim.status;
    if (std::holds_alternative<providers::Gone>(result)) {
        status.taskRef.clear();
        status.keptSince.reset();
        set(status, conditions::kMachineDeleted, ConditionStatus::True, reasons::kMachineDeleted,
            "the provider confirmed that the machine is gone", s.now);
    } else if (const auto* busy = std::get_if<providers::RemovalInProgress>(&result)) {
        status.taskRef = busy->task;
        const auto began = since(status, conditions::kMachineDeleted);
        const bool is_slow = began && later(*began, kRemovalTakes) <= s.now;
        set(status, conditions::kMachineDeleted, ConditionStatus::False,
            is_slow ? kRemovalStalled : reasons::kDeleting, busy->message, s.now);
    } else if (stated_gone(s)) {
        status.taskRef.clear();
        note_stated_gone(status, s.now);
    } else if (const auto* blocked = std::get_if<providers::RemovalBlocked>(&result)) {
        set(status, conditions::kMachineDeleted, ConditionStatus::False, blocked->reason, blocked->message,
            s.now);
    }
    return status;
}

ClaimStatus after_error(const Situation& s, std::string_view reason, const std::string& message) {
    const auto& status = s.claim.status;
    if (removal_begun(status) && !removal_ended(status)) {
        providers::RemovalBlocked blocked;
        blocked.reason = reason;
        blocked.message = message;
        return after_removal(s, blocked);
    }
    const bool is_coming = !api::find_condition(status.conditions, conditions::kMachineDeleted) &&
                           !is_true(s.claim, conditions::kLaunched);
    return is_coming ? after_failed_launch(s, reason, message) : status;
}

}  // namespace controllers::claim
