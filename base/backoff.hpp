// Backoff is exponential backoff as a value.
#pragma once

#include <algorithm>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace base {

struct Backoff {
    Duration initial = std::chrono::milliseconds{800};
    Duration maximum = std::chrono::seconds{30};

    // Returns the wait before attempt number `failures` + 1: initial * 2^(failures-1), at most `maximum`; 0
    // without failures.
    Duration after(int failures) const {
        if (failures <= 0) return Duration::zero();
        auto wait = initial;
        for (int i = 1; i < failures && wait < maximum; ++i) wait *= 2;
        return std::min(wait, maximum);
    }
    // Returns the same, spread over 75 to 125 percent, so that many clients do not return simultaneously.
    Duration after(int failures, Random& random) const {
        return std::chrono::duration_cast<Duration>(after(failures) * (0.75 + random.unit() / 2));
    }
};

}  // namespace base
