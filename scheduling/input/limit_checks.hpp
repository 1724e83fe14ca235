// Checks the bounds of one LimitRange and describes what it refuses.
#pragma once
#include <string>

#include "api/core.hpp"

namespace scheduling {

// These functions return why the API server refuses the object, or nothing.
std::string refusal_by(const api::LimitRange& range, const api::PodSpec& pod);
std::string refusal_by(const api::LimitRange& range, const api::PersistentVolumeClaimSpec& claim);
// Describes a container that requests more than its limit, which may be the default that `range` gave it.
std::string request_beyond_limit(const api::PodSpec& pod, const std::string& range);

}  // namespace scheduling
