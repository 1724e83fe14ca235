// Waits of what is done step by step.
#pragma once

#include <algorithm>

#include "base/clock.hpp"

namespace providers::proxmox {

// Of two waits; 0 means that there is nothing to wait for.
inline base::Duration sooner(base::Duration a, base::Duration b) {
    if (a == base::Duration{} || b == base::Duration{}) return std::max(a, b);
    return std::min(a, b);
}

}  // namespace providers::proxmox
