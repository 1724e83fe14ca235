// Claims in service whose machines are switched off, as their condition PoweredOff tells. Pure.
#pragma once

#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// Its machine is being started again, and has not been for so long that its Node is not expected any more.
bool is_being_started(const NodeSmithClaim& claim, api::Time now);
// It was started several times to no effect.
bool does_not_start(const NodeSmithClaim& claim);

}  // namespace controllers::claim
