#include "controllers/claim/state/doubtful_machine.hpp"

namespace controllers::claim {

bool has_doubtful_machine(const api::v1alpha1::ClaimStatus& status) {
    const auto* launched = api::find_condition(status.conditions, api::conditions::kLaunched);
    return needs_person_for_machine(status) || (launched && launched->reason == kMachineNotKnown);
}

bool needs_person_for_machine(const api::v1alpha1::ClaimStatus& status) {
    const auto* launched = api::find_condition(status.conditions, api::conditions::kLaunched);
    return launched && (launched->reason == kMachineNotShown || launched->reason == kSeveralMachines ||
                        launched->reason == kMarkOfOther);
}

}  // namespace controllers::claim
