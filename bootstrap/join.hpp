// What makes a booted machine join the cluster: files to write and commands to run, for each format.
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
    api::StringMap labels;  // those that a kubelet may not set are left out: patch them onto the Node
    std::vector<api::Taint> taints;  // see registration_taints()
    std::string provider_id;         // empty: none
    api::v1alpha1::Kubelet kubelet;
    std::string version;  // of what is installed; empty: the server's

    // For the format Custom.
    std::string host;
    std::string pool;
    std::string zone;
    std::string region;
    std::vector<std::string> addresses;
    std::vector<std::string> mac_addresses;

    // For Custom a shell script with placeholders, for Talos a machine configuration.
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
    std::vector<std::vector<std::string>> commands;  // arguments; run in this order, once
    // The whole user-data, of a guest that takes neither files nor commands; empty: it does.
    std::string document;
    bool operator==(const JoinPlan&) const = default;
};

// Holds the token. Throws std::invalid_argument that says what the request lacks.
JoinPlan plan_join(const JoinRequest& request);

// The taints that a machine registers with: those of its template, and kubenodesmith.io/unregistered, so that
// nothing runs on a Node before we know that it is ours.
std::vector<api::Taint> registration_taints(const std::vector<api::Taint>& taints,
                                            const std::vector<api::Taint>& startup_taints);

// Whether the kubelet accepts this key in --node-labels and NodeRestriction lets it set it on its own Node.
// https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
bool kubelet_may_set(std::string_view label_key);

// "key=value", of those that a kubelet may set.
std::vector<std::string> label_texts(const api::StringMap& labels);
// The same with commas between, as --node-labels takes it.
std::string label_list(const api::StringMap& labels);

// "key=value:effect", and the same with commas between, as --register-with-taints takes it.
std::vector<std::string> taint_texts(const std::vector<api::Taint>& taints);
std::string taint_list(const std::vector<api::Taint>& taints);

}  // namespace bootstrap
