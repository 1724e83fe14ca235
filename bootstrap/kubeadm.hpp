// Plans how a machine joins a cluster made by kubeadm.
// https://kubernetes.io/docs/reference/setup-tools/kubeadm/kubeadm-join/
#pragma once

#include <string>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Throws std::invalid_argument.
JoinPlan plan_kubeadm(const JoinRequest& request);

// Returns a JoinConfiguration as YAML, for kubeadm of the cluster's version: kubeadm.k8s.io/v1beta4, before
// 1.31 v1beta3. Contains the token. https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/
// https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta3/
std::string kubeadm_join_configuration(const JoinRequest& request);

}  // namespace bootstrap
