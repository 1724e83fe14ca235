// Determines how many volumes of each CSI driver a future machine can attach.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace scheduling {

using AttachLimits = std::map<std::string, std::int64_t>;  // by driver

// Returns the limits by pool: the pool's stated limit, otherwise that of its youngest Node that knows the
// driver, otherwise what its former Nodes showed. A driver without an entry has no known limit.
std::vector<AttachLimits> attach_limits(const Snapshot& snapshot);

}  // namespace scheduling
