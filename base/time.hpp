// Durations and times whose sums and products stop at the largest duration and the last moment, 292 years
// away. Other numbers mixed with them, such as the seconds of a pod's grace period, are converted the same
// way.
#pragma once

#include <chrono>

#include "base/saturating.hpp"

namespace base {

using Duration = std::chrono::duration<Saturating, std::nano>;
using Seconds = std::chrono::duration<Saturating>;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

}  // namespace base
