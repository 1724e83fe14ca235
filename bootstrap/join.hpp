// Plans how a booted machine joins the cluster: files to write and commands to run, for each format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/node.hpp"
#include "api/v1alpha1/bootstrap.hpp"
#include "bootstrap/cluster_info.hpp"
#include "bootstrap/token.hpp"

namespace bootstrap {

struct JoinRequest {
    api::v1alpha1::BootstrapFormat format = api::v1alpha1::BootstrapFormat::Kubeadm;
    Token token;
    ClusterInfo cluster;
    std::string node_name;
    api::StringMap labels;           // forbidden ones must be patched onto the Node
    std::vector<api::Taint> taints;  // see registration_taints()
    std::string provider_id;         // empty: none
    api::v1alpha1::Kubelet kubelet;
    std::string version;  // version to install; empty: the server's

    // These members are for the format Custom.
    std::string host;
    std::string pool;
    std::string zone;
    std::string region;
    std::vector<std::string> addresses;
    std::vector<std::string> mac_addresses;

    // A shell script with placeholders for Custom, a machine configuration for Talos.
    std::string given;
};

struct GuestFile {
    std::string path;
    std::string content;
    std::string permissions = "0600";
    bool operator==(const GuestFile&) const = default;
};

struct JoinPlan {
    std::vector<GuestFile> files;
    std::vector<std::vector<std::string>> commands;  // arguments; run once, in this order
    // The whole user-data for a guest that accepts neither files nor commands; otherwise empty.
    std::string document;
    bool operator==(const JoinPlan&) const = default;
};

// Returns a plan that contains the token. Throws std::invalid_argument that names what the request lacks.
JoinPlan plan_join(const JoinRequest& request);

// Returns the taints that a machine registers with. These are its template's, and
// kubenodesmith.io/unregistered. The latter keeps pods away until we know that the Node is ours.
std::vector<api::Taint> registration_taints(const std::vector<api::Taint>& taints,
                                            const std::vector<api::Taint>& startup_taints);

// Reports whether the kubelet accepts this key in --node-labels and NodeRestriction lets it set it on its own
// Node. https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
bool kubelet_may_set(std::string_view label_key);

// Returns "key=value" for the labels that a kubelet may set.
std::vector<std::string> label_texts(const api::StringMap& labels);
// Joins them by commas, the form of --node-labels.
std::string label_list(const api::StringMap& labels);

// Returns "key=value:effect", and the same joined by commas, the form of --register-with-taints.
std::vector<std::string> taint_texts(const std::vector<api::Taint>& taints);
std::string taint_list(const std::vector<api::Taint>& taints);

}  // namespace bootstrap
