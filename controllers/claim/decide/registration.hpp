// Decides the steps from a running machine to a Node in service, and watches over it.
#pragma once

#include "controllers/claim/decide/lifecycle.hpp"

namespace controllers::claim {

Decision decide_registration(const Situation& situation);
Decision decide_service(const Situation& situation);

}  // namespace controllers::claim
