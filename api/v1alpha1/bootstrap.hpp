// How a machine becomes a Node: part of Pool and (as their default) ControlPlane.
#pragma once
#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

enum class BootstrapMethod { None, CloudInit, GuestAgent };
enum class BootstrapFormat { Kubeadm, K3s, Custom };
enum class BootstrapDelivery { ISO, HTTP };
enum class BootstrapApproval { Operator, Cluster };

struct Bootstrap {
    BootstrapMethod method = BootstrapMethod::None;
    BootstrapFormat format = BootstrapFormat::Kubeadm;
    std::string apiServerEndpoint;  // host:port; "" = from kube-public/cluster-info
    BootstrapDelivery delivery = BootstrapDelivery::ISO;
    Duration tokenTTL = std::chrono::minutes(30);
    BootstrapApproval approval = BootstrapApproval::Operator;  // of certificates for tokens of format Kubeadm
    std::optional<SecretKeyReference> commandSecretRef;        // format Custom
    std::vector<std::string> readyCommand = {"systemctl", "is-system-running", "--wait"};
    bool acceptDegraded = true;
    Duration execTimeout = std::chrono::minutes(5);
    bool operator==(const Bootstrap&) const = default;
};

}  // namespace api::v1alpha1
