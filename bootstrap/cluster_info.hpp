// Where a joining machine finds the cluster and how it knows that it is the right one.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/core.hpp"

namespace bootstrap {

struct ClusterInfo {
    std::string server;   // https://host:port
    std::string ca_pem;   // certificates that the API server's own is signed by
    int minor = 0;        // of its Kubernetes version 1.x; 0: not known
    std::string release;  // of K3s or RKE2, v1.33.1+k3s1; empty: it is neither, or does not say

    // "host:port", as kubeadm takes it. Throws std::invalid_argument if `server` is no https URL.
    std::string endpoint() const;
    bool operator==(const ClusterInfo&) const = default;
};

// Of the ConfigMap kube-public/cluster-info, which kubeadm makes: a kubeconfig with one cluster.
// Throws std::invalid_argument that says what is missing.
ClusterInfo parse_cluster_info(const api::ConfigMap& cluster_info);

// Of what an API server answers to GET /version; 0: it does not say.
int minor_version(const boost::json::value& version);
// The same; empty for what is not exactly the version of a release of K3s or RKE2.
std::string release_version(const boost::json::value& version);

// Such as v1.33.1+k3s1 and v1.33.1-rc2+rke2r1.
bool is_release(const std::string& version);

// The same with another address: "host:port" or "https://host:port"; empty: unchanged.
ClusterInfo with_endpoint(ClusterInfo info, std::string_view endpoint);

// "sha256:<hex>" of each certificate's public key (RFC 7469 section 2.4), as kubeadm's caCertHashes wants
// them. Throws std::invalid_argument if there is no readable certificate.
std::vector<std::string> ca_cert_hashes(std::string_view ca_pem);

// For a cluster that kubeadm did not make: with the CA of the ConfigMap kube-root-ca.crt, which every cluster
// has in each namespace, and an address that a user gave ("host:port"). Throws std::invalid_argument that
// says what is missing.
ClusterInfo cluster_info_of_root_ca(const api::ConfigMap& root_ca, const std::string& endpoint);

}  // namespace bootstrap
