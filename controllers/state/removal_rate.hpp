// How many nodes a pool removed within the last hour, for its ControlPlane's maxRemovalsPerHour. Kept in the
// status of the pool, so that a new leader removes no more. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "controllers/cache/kinds.hpp"

namespace controllers {

// The status of a pool holds at most this many; the oldest go first.
inline constexpr std::size_t kMostRemovalsRemembered = 1000;

// Nodes whose claims were deleted within the last hour, and those whose removal was decided and not begun.
std::int64_t removals_last_hour(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now);
// The pool's memory when the claim is removed, which counts once however often that is tried.
std::vector<api::v1alpha1::RecentRemoval> with_removal(const NodeSmithPool& pool, const NodeSmithClaim& claim,
                                                       api::Time now);

}  // namespace controllers
