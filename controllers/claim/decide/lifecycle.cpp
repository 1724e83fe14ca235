#include "controllers/claim/decide/lifecycle.hpp"

#include "controllers/claim/decide/keeping.hpp"

namespace controllers::claim {

namespace conditions = api::conditions;

namespace {

// A failed claim, or a failed attempt of a live one.
Decision decide_failed(const Situation& s) {
    const auto& claim = s.claim;
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
            "no machine was made", s.now);
    }
    return decide_cleanup(s, rest);
}

// Somebody else took the Node or the machine away: the claim ends, and demand buys again.
bool is_replaced(const ClaimStatus& status) {
    return has_reason(status, conditions::kDisrupted, reasons::kNodeDeleted) ||
           has_reason(status, conditions::kDisrupted, reasons::kMachineVanished);
}

}  // namespace

Decision decide(const Situation& s) {
    const auto& claim = s.claim;
    if (claim.metadata.deletionTimestamp) return decide_removal(s);
    if (!api::has_finalizer(claim.metadata, api::finalizers::kClaim)) {
        return {Step::add_finalizer, claim.status, std::nullopt};
    }
    if (is_unadopted(claim.status)) return {Step::adopt, claim.status, std::nullopt};
    if (is_true(claim, conditions::kFailed)) return decide_failed(s);
    if (is_replaced(claim.status)) return {Step::delete_claim, claim.status, std::nullopt};
    if (api::find_condition(claim.status.conditions, conditions::kMachineDeleted)) return decide_failed(s);
    if (!is_true(claim, conditions::kLaunched)) return decide_launch(s);
    if (!is_true(claim, conditions::kRegistered)) return decide_registration(s);
    return decide_service(s);
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

bool stated_gone(const Situation& s) {
    const auto* annotation = api::find(s.claim.metadata.annotations, api::annotations::kMachineGone);
    if (annotation && *annotation == "true") return true;
    if (!s.node) return false;
    for (const auto& taint : s.node->spec.taints) {
        if (taint.key == api::taints::kOutOfService) return true;
    }
    return false;
}

}  // namespace controllers::claim
