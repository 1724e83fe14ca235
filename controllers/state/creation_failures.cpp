#include "controllers/state/creation_failures.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/provisioning/facts/room.hpp"

namespace controllers {

namespace {

std::optional<api::Time> last_success(const ClaimPointers& claims) {
    std::optional<api::Time> last;
    for (const auto& claim : claims)
        last = std::max(last, api::true_since(claim->status.conditions, conditions::kRegistered));
    return last;
}

// Excludes the running attempt, which has not failed yet.
std::int32_t failed_attempts(const NodeSmithClaim& claim) {
    const bool is_under_way = !claim.status.systemUUID.empty() && !claim::loses_machine(claim);
    return std::max(1, claim.status.launchAttempts - (is_under_way ? 1 : 0));
}

}  // namespace

std::string repeated_failures(const ClaimPointers& claims, const api::v1alpha1::PoolStatus& status) {
    const auto success = last_success(claims);
    std::int32_t failures = 0;
    const NodeSmithClaim* last = nullptr;
    for (const auto& claim : claims) {
        const auto& failure = claim->status.lastFailure;
        if (!failure || provisioning::failed_for_room(*claim)) continue;
        if (success && failure->time <= *success) continue;
        failures += failed_attempts(*claim);
        if (!last || last->status.lastFailure->time < failure->time) last = claim.get();
    }
    failures = std::max(failures, status.consecutiveFailures);
    if (failures < kRepeatedFailures) return {};
    auto text = "the last " + std::to_string(failures) +
                " attempts to create a machine failed, and no machine has joined since: the next one will "
                "probably fail, too, and is tried " +
                (status.lastFailureRefused ? "at least once a minute" : "with growing pauses");
    if (last) text += "; the last was " + last->metadata.name + ": " + last->status.lastFailure->message;
    return text;
}

}  // namespace controllers
