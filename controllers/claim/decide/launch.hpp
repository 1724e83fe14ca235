// Decides the steps from an admitted claim to a running machine.
#pragma once

#include <string>
#include <string_view>

#include "controllers/claim/decide/lifecycle.hpp"
#include "providers/launch.hpp"

namespace controllers::claim {

Decision decide_launch(const Situation& situation);

ClaimStatus after_ensure(const Situation& situation, const providers::EnsureResult& result);
// Keeps the launch at its present step and reports the failure in its condition.
ClaimStatus after_failed_launch(const Situation& situation, std::string_view reason,
                                const std::string& message);

}  // namespace controllers::claim
