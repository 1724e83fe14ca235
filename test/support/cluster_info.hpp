// Builds the ConfigMap that kubeadm reads to find and trust the cluster when a machine joins.
#pragma once

#include <string>

#include "api/core.hpp"

namespace test {

inline api::ConfigMap cluster_info(const std::string& ca_pem) {
    api::ConfigMap result;
    result.metadata.namespace_ = "kube-public";
    result.metadata.name = "cluster-info";
    result.data["kubeconfig"] =
        "apiVersion: v1\nkind: Config\nclusters:\n- name: \"\"\n  cluster:\n"
        "    server: https://10.0.0.1:6443\n    certificate-authority-data: " +
        api::Bytes{ca_pem}.str() + "\n";
    return result;
}

}  // namespace test
