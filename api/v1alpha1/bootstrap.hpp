// The way in which a machine becomes a Node. It is part of Pool and, as their default, of ControlPlane.
#pragma once
#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

enum class BootstrapMethod { None, CloudInit, GuestAgent, Unrecognized };
enum class BootstrapFormat { Kubeadm, K3s, RKE2, K0s, Talos, Custom, Unrecognized };
enum class BootstrapUserData { CloudConfig, Ignition, Unrecognized };
enum class BootstrapDelivery { ISO, HTTP, Unrecognized };
enum class BootstrapApproval { Operator, Cluster, Unrecognized };

// Kubelet has settings that the join passes to a machine's kubelet, besides those of the machine itself.
struct Kubelet {
    StringMap extraArgs;                 // by name without dashes
    std::int64_t maxPods = 0;            // 0: the kubelet's default
    bool cloudProviderExternal = false;  // a cloud controller manager initializes the Nodes
    bool operator==(const Kubelet&) const = default;
};

struct Bootstrap {
    BootstrapMethod method = BootstrapMethod::None;
    BootstrapFormat format = BootstrapFormat::Kubeadm;
    std::string apiServerEndpoint;  // host:port; "": from kube-public/cluster-info
    BootstrapDelivery delivery = BootstrapDelivery::ISO;
    Duration tokenTTL = std::chrono::minutes(30);
    BootstrapApproval approval = BootstrapApproval::Operator;  // of certificates for tokens of format Kubeadm
    std::optional<SecretKeyReference> commandSecretRef;        // format Custom
    std::optional<SecretKeyReference> machineConfigSecretRef;  // format Talos
    BootstrapUserData userData = BootstrapUserData::CloudConfig;
    std::string version;  // of K3s or RKE2 if the image has none; "": the server's
    std::optional<Kubelet> kubelet;
    std::vector<std::string> readyCommand = {"systemctl", "is-system-running", "--wait"};
    bool acceptDegraded = true;
    Duration execTimeout = std::chrono::minutes(5);
    // Only for a ControlPlane: networks whose addresses the serving certificates of its Nodes may name.
    std::vector<std::string> servingNetworks;
    bool operator==(const Bootstrap&) const = default;
};

}  // namespace api::v1alpha1
