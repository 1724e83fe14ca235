// Evaluates the condition PoweredOff of claims in service whose machines are switched off. Pure.
#pragma once

#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// Reports whether its machine is being restarted, and recently enough for its Node to return.
bool is_being_started(const NodeSmithClaim& claim, api::Time now);
// Reports whether several restarts had no effect.
bool does_not_start(const NodeSmithClaim& claim);

}  // namespace controllers::claim
