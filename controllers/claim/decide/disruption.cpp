// What becomes of a node in service for which the disruption controller has decided something.
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/local_volumes.hpp"

namespace controllers::claim {

using Permission = DisruptionReports::Permission;

namespace {

// The node is drained. Pods whose volumes held the machine are asked to leave once a person gave these up.
void keep_or_let_go(const Situation& s, ClaimStatus& status) {
    const auto kind = *disruption::under_way(s.claim);
    if (!s.held_volumes.empty()) {
        if (disruption::keeps_machine_for_volumes(kind))
            keep_for_volumes(status, s, std::string(disruption::name_of(kind)));
    } else if (is_kept_for_volumes(s.claim)) {
        set(status, conditions::kDrained, ConditionStatus::False, reasons::kDraining,
            "the volumes for which the machine was kept are given up", s.now);
    }
}

// Its claim is deleted when it is drained.
Step leave(const Situation& s, ClaimStatus& status) {
    if (!disruption::has_leaving_taint(*s.node)) return Step::taint_node;
    const auto* drained = api::find_condition(status.conditions, conditions::kDrained);
    if (!drained && s.permission == Permission::leave_empty)
        set(status, conditions::kDrained, ConditionStatus::True, reasons::kDrained,
            DrainProgress{.done = true}.message(), s.now);
    if (!drained && s.permission == Permission::drain)
        set(status, conditions::kDrained, ConditionStatus::False, reasons::kDraining,
            "the pods of the node are being evicted", s.now);
    if (drained && drained->status == ConditionStatus::True) keep_or_let_go(s, status);
    return api::is_false(status.conditions, conditions::kDrained) ? Step::drain : Step::nothing;
}

}  // namespace

Step carry_out_disruption(const Situation& s, ClaimStatus& status) {
    if (disruption::under_way(s.claim)) return leave(s, status);
    // It was undone, or a process died between the taint and what it was for.
    api::remove_condition(status.conditions, conditions::kDrained);
    if (is_true(s.claim, conditions::kInitialized))
        api::remove_condition(status.conditions, conditions::kKeptForVolumes);
    if (disruption::has_leaving_taint(*s.node)) return Step::untaint_node;
    if (s.permission == Permission::begin_power_cycle && !disruption::is_power_cycling(s.claim))
        set(status, conditions::kPowerCycled, ConditionStatus::False, kSwitchingOff,
            "its machine is switched off and on again before it is replaced", s.now);
    const bool may_switch =
        s.permission == Permission::switch_off_and_on || s.permission == Permission::switch_on;
    return may_switch && disruption::is_power_cycling(s.claim) ? Step::switch_power : Step::nothing;
}

}  // namespace controllers::claim
