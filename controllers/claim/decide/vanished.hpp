// Whether a claim's machine is gone without our doing, and what speaks against believing that. Pure.
#pragma once

#include "controllers/claim/decide/lifecycle.hpp"

namespace controllers::claim {

// The provider has moved to another cluster since the machine was made: that it does not find the machine
// there proves nothing.
bool is_elsewhere(const Situation& situation);
// Says so, and what a person can do.
std::string elsewhere_text(const Situation& situation);

// Somebody removed a machine that ran, or was kept for a look, and nothing speaks against it.
bool has_vanished(const Situation& situation);
Decision decide_vanished(const Situation& situation);
// The provider does not find the machine of a claim in service, which is not believed: the condition
// MachineFound says why, for as long as that is so.
void note_doubt(ClaimStatus& status, const Situation& situation);

}  // namespace controllers::claim
