// Decides whether a claim's machine vanished without our action, and what contradicts that. Pure.
#pragma once

#include "controllers/claim/decide/lifecycle.hpp"

namespace controllers::claim {

// Reports whether the provider has moved to another cluster since the machine was created. That the
// machine is missing there proves nothing.
bool is_elsewhere(const Situation& situation);
// Describes that, and what a person can do.
std::string elsewhere_text(const Situation& situation);

// Reports whether someone removed a machine that ran or was kept for inspection, and nothing contradicts it.
bool has_vanished(const Situation& situation);
Decision decide_vanished(const Situation& situation);
// Records doubt about a missing machine of a claim in service. The condition MachineFound
// explains the doubt while it lasts.
void note_doubt(ClaimStatus& status, const Situation& situation);

}  // namespace controllers::claim
