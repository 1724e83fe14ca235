#include "controllers/claim/decide/keeping.hpp"

#include <algorithm>

#include "controllers/claim/decide/boot_evidence.hpp"
#include "controllers/claim/decide/cleanup.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"

namespace controllers::claim {

namespace {

// These are the reasons of RegistrationTimeout and of a join through the guest agent.
constexpr std::string_view kNeverJoined[] = {reasons::kRegistrationTimeout, "JoinFailed", "JoinTimeout",
                                             "GuestNotReady"};

bool never_joined(const NodeSmithClaim& claim) {
    const auto& failure = claim.status.lastFailure;
    return is_true(claim, conditions::kFailed) && failure &&
           std::ranges::find(kNeverJoined, failure->reason) != std::end(kNeverJoined) &&
           !api::find_condition(claim.status.conditions, conditions::kDrained);
}

// Reports whether the machine should be kept. A bare-metal host is released instead,
// because it is too expensive to idle.
bool is_wanted(const Situation& s) {
    const bool by_pool = s.pool && !s.pool->metadata.deletionTimestamp && s.pool->spec.scaleUp.keepFailed > 0;
    return by_pool && s.provider && s.provider->spec.proxmox && !s.is_superseded && !stated_gone(s);
}

std::string kept_text(const Situation& s) {
    const auto& claim = s.claim;
    return machine_text(s) +
           " never joined and is kept, stopped, for inspection (scaleUp.keepFailed); it counts against no "
           "limit. To remove it: kubectl delete nodesmithclaim " +
           claim.metadata.name + " -n " + claim.metadata.namespace_;
}

}  // namespace

bool is_kept(const NodeSmithClaim& claim) {
    return claim.status.keptSince && !is_true(claim, conditions::kMachineDeleted);
}

bool shall_keep(const Situation& s) {
    return never_joined(s.claim) && !s.claim.metadata.deletionTimestamp && !s.node && is_wanted(s);
}

Decision decide_kept(const Situation& s) {
    Decision decision{Step::nothing, s.claim.status, std::nullopt};
    if (!is_wanted(s)) {
        decision.step = Step::delete_claim;
        return decision;
    }
    set(decision.status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kKept, kept_text(s),
        s.now);
    // A user started the machine and it joined after all: pods must not be placed on it.
    if (s.node && !disruption::has_leaving_taint(*s.node)) decision.step = Step::taint_node;
    return decision;
}

ClaimStatus after_stop(const Situation& s, const providers::StopResult& result) {
    auto status = s.claim.status;
    if (std::holds_alternative<providers::Stopped>(result)) {
        status.taskRef.clear();
        status.keptSince = s.now;
        set(status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kKept, kept_text(s), s.now);
        return status;
    }
    if (const auto* busy = std::get_if<providers::RemovalInProgress>(&result)) {
        status.taskRef = busy->task;
        set(status, conditions::kMachineDeleted, ConditionStatus::False, kStopping, busy->message, s.now);
        return status;
    }
    if (const auto* blocked = std::get_if<providers::RemovalBlocked>(&result))
        return after_removal(s, *blocked);
    return after_removal(s, providers::Gone{});
}

}  // namespace controllers::claim
