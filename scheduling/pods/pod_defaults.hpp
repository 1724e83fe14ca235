// What the API server fills in when a pod is created, but not in the template that it is made from.
// Source: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go, SetDefaults_Pod.
#pragma once
#include "api/pod.hpp"

namespace scheduling {

// Requests that follow from limits, and the ports of the node that a pod in its network takes.
void set_pod_defaults(api::PodSpec& pod);

}  // namespace scheduling
