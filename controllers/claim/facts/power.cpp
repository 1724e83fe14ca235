#include "controllers/claim/facts/power.hpp"

#include <chrono>

#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

namespace {

constexpr std::chrono::minutes kExpectedFor{10};

}  // namespace

bool is_being_started(const NodeSmithClaim& claim, api::Time now) {
    const auto begun = since(claim.status, conditions::kPoweredOff);
    return begun && has_reason(claim.status, conditions::kPoweredOff, reasons::kStarting) &&
           now.at - begun->at < kExpectedFor;
}

bool does_not_start(const NodeSmithClaim& claim) {
    return has_reason(claim.status, conditions::kPoweredOff, reasons::kStartFailed);
}

}  // namespace controllers::claim
