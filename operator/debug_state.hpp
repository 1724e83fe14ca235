// What the operator believes, as one JSON document (/debug/state): for people who ask why.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/disruption/disruption_reconciler.hpp"

namespace kubenodesmith {

std::string debug_state(const controllers::Informers& informers,
                        const controllers::DisruptionReconciler& disruption, bool leading,
                        base::WallTime now);

}  // namespace kubenodesmith
