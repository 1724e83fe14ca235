// Handles claims that failed because their machine never joined. Such a claim may keep its
// machine, stopped, for inspection (scaleUp.keepFailed of its pool). The machine counts against no
// limit and is removed with its claim. Pure.
#pragma once

#include "controllers/claim/decide/lifecycle.hpp"
#include "providers/capabilities.hpp"

namespace controllers::claim {

// reason of MachineDeleted while the machine is being stopped, before it is kept
inline constexpr std::string_view kStopping = "Stopping";

// Reports whether the machine exists and is stopped.
bool is_kept(const NodeSmithClaim& claim);
// Reports whether the failed claim's machine should be stopped and kept instead of removed.
bool shall_keep(const Situation& situation);
// Decides about a claim whose machine is kept. Nothing happens until its pool keeps none or a younger one.
Decision decide_kept(const Situation& situation);

ClaimStatus after_stop(const Situation& situation, const providers::StopResult& result);

}  // namespace controllers::claim
