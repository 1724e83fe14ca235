// Durations and moments whose sums and products end at the longest duration and at the last moment, 292 years
// away. Whatever is mixed with them, such as the seconds of a pod's grace period, is converted the same way.
#pragma once

#include <chrono>

#include "base/saturating.hpp"

namespace base {

using Duration = std::chrono::duration<Saturating, std::nano>;
using Seconds = std::chrono::duration<Saturating>;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

}  // namespace base
