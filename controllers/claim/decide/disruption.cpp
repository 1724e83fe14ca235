// Carries out decisions of the disruption controller about a node in service.
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/local_volumes.hpp"

namespace controllers::claim {

using Permission = DisruptionReports::Permission;

namespace {

// Acts after the drain. It keeps the machine for volumes on its disk. Once a person gave these up,
// the pods that use them are evicted.
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

// Decides the next step of a removal. The claim is deleted when its node is drained.
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
    // The disruption was undone, or a process died between the taint and its purpose.
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
