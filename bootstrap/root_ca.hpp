// Where a joining machine finds a cluster that kubeadm did not make.
#pragma once

#include <string>

#include "api/core.hpp"
#include "bootstrap/cluster_info.hpp"

namespace bootstrap {

// With the CA of the ConfigMap kube-root-ca.crt, which every cluster has in each namespace, and an address
// that a user gave ("host:port"). Throws std::invalid_argument that says what is missing.
ClusterInfo cluster_info_of_root_ca(const api::ConfigMap& root_ca, const std::string& endpoint);

}  // namespace bootstrap
