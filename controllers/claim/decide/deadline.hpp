// Limits of the times in which a machine must make progress.
#pragma once

#include "controllers/claim/decide/situation.hpp"

namespace controllers::claim {

// Time that every machine gets from when this process began to lead. Before that it may have waited for the
// operator, e.g. for its certificate or for its start, and nobody answered.
inline constexpr std::chrono::minutes kCatchesUp{3};

// Returns the end of the period that began at that time, but no earlier than the new leader's part of it is
// done. Pure.
api::Time deadline(const Situation& s, api::Time began, api::Duration timeout);

}  // namespace controllers::claim
