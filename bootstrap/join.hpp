// What makes a booted machine join the cluster: files to write and commands to run, for each format.
#pragma once

#include <map>
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
    std::string host;            // for the format Custom
    std::string custom_command;  // for the format Custom: a shell script with placeholders
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
    bool operator==(const JoinPlan&) const = default;
};

// Holds the token. Throws std::invalid_argument that says what the request lacks.
JoinPlan plan_join(const JoinRequest& request);

// A JoinConfiguration as YAML, for kubeadm of the cluster's version: in kubeadm.k8s.io/v1beta4, before 1.31
// in v1beta3. Holds the token. https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/
// https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta3/
std::string kubeadm_join_configuration(const JoinRequest& request);

// The taints that a machine registers with: those of its template, and kubenodesmith.io/unregistered, so that
// nothing runs on a Node before we know that it is ours.
std::vector<api::Taint> registration_taints(const std::vector<api::Taint>& taints,
                                            const std::vector<api::Taint>& startup_taints);

// Whether the kubelet accepts this key in --node-labels and NodeRestriction lets it set it on its own Node.
// https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
bool kubelet_may_set(std::string_view label_key);

// Every "{{ .Name }}" (blanks are free) becomes values["Name"]. Throws std::invalid_argument that names an
// unknown placeholder and the known ones; the message never holds a value.
std::string fill_placeholders(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace bootstrap
