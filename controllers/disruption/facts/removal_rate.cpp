#include "controllers/disruption/facts/removal_rate.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "controllers/disruption/facts/disruption_state.hpp"

namespace controllers {

using api::v1alpha1::RecentRemoval;

namespace {

// A leader writes no time beyond the next hour, so such a time does not count.
bool is_recent(const RecentRemoval& removal, api::Time now) {
    return removal.time && std::chrono::abs(now.at - removal.time->at) < std::chrono::hours{1};
}

}  // namespace

std::int64_t removals_last_hour(const NodeSmithPool& pool, const ClaimPointers& claims,
                                const NodeSmithControlPlane& manager, api::Time now) {
    // A control plane that was made anew under an old name inherits nothing.
    const auto begin = manager.metadata.creationTimestamp;
    std::set<std::string> removed;
    for (const auto& removal : pool.status.recentRemovals)
        if (is_recent(removal, now) && removal.time >= begin) removed.insert(removal.claim);
    for (const auto& claim : claims)
        if (disruption::under_way(*claim)) removed.insert(claim->metadata.name);
    return std::ssize(removed);
}

std::vector<RecentRemoval> with_removal(const NodeSmithPool& pool, const NodeSmithClaim& claim,
                                        api::Time now) {
    auto removals = pool.status.recentRemovals;
    std::erase_if(removals, [&](const RecentRemoval& removal) {
        return removal.claim == claim.metadata.name || !is_recent(removal, now);
    });
    removals.push_back({claim.metadata.name, now});
    if (removals.size() > kMostRemovalsRemembered) removals.erase(removals.begin());
    return removals;
}

}  // namespace controllers
