// Results of removals that wait.
#pragma once

#include <optional>
#include <string>

#include "providers/redfish/hosts/bmc_connections.hpp"
#include "providers/removal.hpp"

namespace providers::redfish {

// Time until the next look if a person has to act first.
inline constexpr base::Duration kPersonRetry = std::chrono::minutes{5};

inline RemovalInProgress in_progress(std::string message, base::Duration retry_after) {
    return {std::move(message), {}, retry_after};
}

inline RemovalBlocked blocked(std::string reason, std::string message, base::Duration retry_after) {
    return {std::move(reason), std::move(message), retry_after};
}

// Returns that the removal waits, as another operator may own the same hosts; nullopt: none does.
inline std::optional<RemoveResult> held(const BmcConnections& fleet, const Host& host,
                                        const std::string& tried = "turning off host") {
    auto hold = fleet.why_not_destroy();
    if (hold.why.empty()) return std::nullopt;
    auto why = tried + " " + host.name + ": " + hold.why;
    if (hold.needs_person) return blocked("RemovalHeld", std::move(why), kPersonRetry);
    return in_progress(std::move(why), kBusyRetry);
}

}  // namespace providers::redfish
