// Says where a joining machine finds the cluster and how it verifies it.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/core.hpp"

namespace bootstrap {

struct ClusterInfo {
    std::string server;   // https://host:port
    std::string ca_pem;   // certificates that sign the API server's own
    int minor = 0;        // minor of its Kubernetes version 1.x; 0: unknown
    std::string release;  // release of K3s or RKE2, v1.33.1+k3s1; empty: it is neither, or unknown

    // Returns "host:port", the form for kubeadm. Throws std::invalid_argument if `server` is no https URL.
    std::string endpoint() const;
    bool operator==(const ClusterInfo&) const = default;
};

// Parses the ConfigMap kube-public/cluster-info, which kubeadm creates: a kubeconfig with one cluster. Throws
// std::invalid_argument that names what is missing.
ClusterInfo parse_cluster_info(const api::ConfigMap& cluster_info);

// Parses an API server's answer to GET /version; 0: it has no minor version.
int minor_version(const boost::json::value& version);
// Parses the same answer; empty unless it is exactly the version of a K3s or RKE2 release.
std::string release_version(const boost::json::value& version);

// Accepts versions such as v1.33.1+k3s1 and v1.33.1-rc2+rke2r1.
bool is_release(const std::string& version);

// Returns the same with another address: "host:port" or "https://host:port"; empty: unchanged.
ClusterInfo with_endpoint(ClusterInfo info, std::string_view endpoint);

// Returns "sha256:<hex>" of each certificate's public key (RFC 7469 section 2.4), the form of kubeadm's
// caCertHashes. Throws std::invalid_argument if there is no readable certificate.
std::vector<std::string> ca_cert_hashes(std::string_view ca_pem);

// Builds the information for a cluster that kubeadm did not create. It uses the CA of the ConfigMap
// kube-root-ca.crt, which every cluster has in each namespace, and the user's address ("host:port"). Throws
// std::invalid_argument that names what is missing.
ClusterInfo cluster_info_of_root_ca(const api::ConfigMap& root_ca, const std::string& endpoint);

}  // namespace bootstrap
