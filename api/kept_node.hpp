// A Node of which taints were left out because they were too long (api::shorten) gets one more, in memory
// only, so that it counts as one that keeps all pods off and not as one without those taints.
#pragma once

#include <algorithm>
#include <string_view>

#include "api/node.hpp"

namespace api {

inline constexpr std::string_view kMoreTaintsThanKept =
    "kubenodesmith.io/more-taints-than-kept";  // NoSchedule

inline bool has_more_taints_than_kept(const Node& node) {
    return std::ranges::any_of(node.spec.taints,
                               [](const Taint& taint) { return taint.key == kMoreTaintsThanKept; });
}

}  // namespace api
