// Determines which features of the kubelet a pod requires. Source:
// k8s.io/component-helpers/nodedeclaredfeatures. VolumeBindMountOptions is left out, because the operator
// reads no mounts.
#pragma once
#include <string_view>
#include <vector>

#include "api/pod.hpp"

namespace scheduling {

// Returns names as in Node.status.declaredFeatures; usually none.
std::vector<std::string_view> required_features(const api::PodSpec& pod);

}  // namespace scheduling
