// Helpers for polling intervals.
#pragma once

#include <algorithm>

#include "base/clock.hpp"

namespace providers::proxmox {

// Returns the shorter of two waits; 0 means no wait and is ignored.
inline base::Duration sooner(base::Duration a, base::Duration b) {
    if (a == base::Duration{} || b == base::Duration{}) return std::max(a, b);
    return std::min(a, b);
}

}  // namespace providers::proxmox
