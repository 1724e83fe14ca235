// What becomes of a node in service for which the disruption controller has decided something.
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/state/disruption_state.hpp"

namespace controllers::claim {

using Permission = DisruptionReports::Permission;

namespace {

// Its claim is deleted when it is drained.
Step leave(const Situation& s, ClaimStatus& status) {
    if (!disruption::has_leaving_taint(*s.node)) return Step::taint_node;
    const auto* drained = api::find_condition(status.conditions, conditions::kDrained);
    if (!drained && s.permission == Permission::leave_empty)
        set(status, conditions::kDrained, ConditionStatus::True, reasons::kDrained,
            DrainProgress{.done = true}.message(), s.now);
    if (!drained && s.permission == Permission::drain)
        set(status, conditions::kDrained, ConditionStatus::False, reasons::kDraining,
            "the pods of the node are asked to leave", s.now);
    return api::is_false(status.conditions, conditions::kDrained) ? Step::drain : Step::nothing;
}

}  // namespace

Step carry_out_disruption(const Situation& s, ClaimStatus& status) {
    if (disruption::under_way(s.claim)) return leave(s, status);
    // It was undone, or a process died between the taint and what it was for.
    api::remove_condition(status.conditions, conditions::kDrained);
    if (disruption::has_leaving_taint(*s.node)) return Step::untaint_node;
    if (s.permission == Permission::begin_power_cycle && !disruption::is_power_cycling(s.claim))
        set(status, conditions::kPowerCycled, ConditionStatus::False, kSwitchingOff,
            "its machine is switched off and on again before it is replaced", s.now);
    const bool may_switch =
        s.permission == Permission::switch_off_and_on || s.permission == Permission::switch_on;
    return may_switch && disruption::is_power_cycling(s.claim) ? Step::switch_power : Step::nothing;
}

}  // namespace controllers::claim
