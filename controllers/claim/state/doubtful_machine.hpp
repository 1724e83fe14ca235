// Claims that have lost their status and whose machine is not identified yet. Pure.
#pragma once

#include <string_view>

#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// These are reasons of the condition Launched.
inline constexpr std::string_view kMachineNotKnown = "MachineNotKnown";  // the provider did not answer
inline constexpr std::string_view kMachineNotShown = "MachineNotShown";  // its Node exists, it does not
inline constexpr std::string_view kSeveralMachines = "SeveralMachines";  // several carry its mark
inline constexpr std::string_view kMarkOfOther = "MarkOfOtherMachine";   // it has another UUID
bool has_doubtful_machine(const api::v1alpha1::ClaimStatus& status);
// Reports whether the machine is doubtful until a person acts. The provider has answered.
bool needs_person_for_machine(const api::v1alpha1::ClaimStatus& status);

}  // namespace controllers::claim
