// Fills in what the API server adds to a new pod, but not to its template. Source:
// k8s.io/kubernetes/pkg/apis/core/v1/defaults.go, SetDefaults_Pod.
#pragma once
#include "api/pod.hpp"

namespace scheduling {

// Fills in requests that follow from limits, and node ports of a pod in the host network.
void set_pod_defaults(api::PodSpec& pod);

}  // namespace scheduling
