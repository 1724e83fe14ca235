// A claim that failed because its machine never joined may keep it, stopped, for a look (scaleUp.keepFailed
// of its pool): it counts against nothing, and ends with its claim. Pure.
#pragma once

#include "controllers/claim/decide/lifecycle.hpp"
#include "providers/capabilities.hpp"

namespace controllers::claim {

// MachineDeleted: the machine is being stopped, to be kept.
inline constexpr std::string_view kStopping = "Stopping";

// The machine is stopped and there.
bool is_kept(const NodeSmithClaim& claim);
// The machine of the failed claim is to be stopped and kept instead of removed.
bool shall_keep(const Situation& situation);
// What becomes of a claim whose machine is kept: nothing, until its pool does without, or keeps a younger
// one.
Decision decide_kept(const Situation& situation);

ClaimStatus after_stop(const Situation& situation, const providers::StopResult& result);

}  // namespace controllers::claim
