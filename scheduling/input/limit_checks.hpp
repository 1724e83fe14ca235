// The bounds of one LimitRange: what it refuses, and in which words.
#pragma once
#include <string>

#include "api/core.hpp"

namespace scheduling {

// Each returns why the API server refuses it, or nothing.
std::string refusal_by(const api::LimitRange& range, const api::PodSpec& pod);
std::string refusal_by(const api::LimitRange& range, const api::PersistentVolumeClaimSpec& claim);
// A container that requests more than its limit, which may be the default that `range` gave it.
std::string request_beyond_limit(const api::PodSpec& pod, const std::string& range);

}  // namespace scheduling
