// How many volumes of each CSI driver a machine that is yet to come can attach.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace scheduling {

using AttachLimits = std::map<std::string, std::int64_t>;  // by driver

// Returns the limits by pool: what the pool states, or else what the youngest Node of the pool reports that
// knows the driver. A driver without an entry has no limit that is known.
std::vector<AttachLimits> attach_limits(const Snapshot& snapshot);

}  // namespace scheduling
