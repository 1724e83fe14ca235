// Counts how many nodes a pool removed within the last hour, for its ControlPlane's maxRemovalsPerHour. The
// pool's status keeps the record, so that a new leader observes the limit too. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "controllers/cache/kinds.hpp"

namespace controllers {

// A pool's status holds at most this many; the oldest are dropped first.
inline constexpr std::size_t kMostRemovalsRemembered = 1000;

// Counts the nodes whose claims were deleted within the last hour and since `manager`, the pool's control
// plane, exists, and those whose removal was decided but not begun.
std::int64_t removals_last_hour(const NodeSmithPool& pool, const ClaimPointers& claims,
                                const NodeSmithControlPlane& manager, api::Time now);
// Returns the pool's record after the claim's removal, which counts once even if it is repeated.
std::vector<api::v1alpha1::RecentRemoval> with_removal(const NodeSmithPool& pool, const NodeSmithClaim& claim,
                                                       api::Time now);

}  // namespace controllers
