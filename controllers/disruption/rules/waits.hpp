// When to look again.
#pragma once

#include <algorithm>
#include <optional>

#include "api/time.hpp"
#include "base/clock.hpp"

namespace controllers::disruption {

// The sooner of both; nullopt is never.
inline std::optional<base::Duration> sooner(std::optional<base::Duration> a,
                                            std::optional<base::Duration> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

inline std::optional<base::Duration> until(std::optional<api::Time> when, api::Time now) {
    if (!when) return std::nullopt;
    return std::max<base::Duration>(when->at - now.at, std::chrono::seconds{1});
}

}  // namespace controllers::disruption
