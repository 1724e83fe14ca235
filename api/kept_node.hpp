// An in-memory taint for a Node whose overlong taints were dropped (api::shorten). With it, the Node keeps
// all pods off. Otherwise it would look like a Node without those taints.
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
