#include "controllers/claim/facts/known_taints.hpp"

namespace controllers {

namespace {

struct KnownTaint {
    std::string_view key;  // ending with a slash: a prefix
    std::string_view owner;
};

// Each row names its source: the page or the file of the program that contains the key.
constexpr KnownTaint kKnownTaints[] = {
    // https://docs.cilium.io/en/stable/installation/taints/
    {"node.cilium.io/", "the agent of Cilium"},
    // https://istio.io/latest/docs/setup/additional-setup/cni/ ; istio: pilot/pkg/controllers/untaint
    {"cni.istio.io/not-ready", "the CNI plugin of Istio"},
    // https://node-readiness-controller.sigs.k8s.io/
    {"readiness.k8s.io/", "the node readiness controller"},
    // https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
    {"startup-taint.cluster-autoscaler.kubernetes.io/", "a program that knows cluster-autoscaler"},
    {"ignore-taint.cluster-autoscaler.kubernetes.io/", "a program that knows cluster-autoscaler"},
    // https://karpenter.sh/docs/concepts/nodepools/
    {"karpenter.sh/unregistered", "Karpenter"},
    // https://github.com/kubernetes-sigs/aws-ebs-csi-driver: pkg/driver/constants.go
    {"ebs.csi.aws.com/agent-not-ready", "the AWS EBS CSI driver"},
    // https://github.com/kubernetes-sigs/aws-efs-csi-driver: docs/README.md
    {"efs.csi.aws.com/agent-not-ready", "the AWS EFS CSI driver"},
    // https://github.com/kubernetes-sigs/aws-fsx-csi-driver: docs/install.md
    {"fsx.csi.aws.com/agent-not-ready", "the AWS FSx CSI driver"},
    // https://github.com/kubernetes-sigs/azuredisk-csi-driver: pkg/azuredisk
    {"disk.csi.azure.com/agent-not-ready", "the Azure Disk CSI driver"},
    // https://github.com/kubernetes-sigs/azurelustre-csi-driver: docs/driver-parameters.md
    {"azurelustre.csi.azure.com/agent-not-ready", "the Azure Lustre CSI driver"},
    // https://github.com/scality/mountpoint-s3-csi-driver
    {"s3.csi.scality.com/agent-not-ready", "the Scality S3 CSI driver"},
    // https://github.com/topolvm/topolvm: docs/node-taint.md
    {"topolvm.io/agent-not-ready", "TopoLVM"},
    // https://kubernetes.io/docs/tasks/administer-cluster/running-cloud-controller/
    {"node.cloudprovider.kubernetes.io/uninitialized", "a cloud controller manager"},
    // https://kubernetes.io/docs/reference/labels-annotations-taints/
    {"node.kubernetes.io/network-unavailable", "the network plugin"},
    // https://cluster-api.sigs.k8s.io/developer/providers/contracts/bootstrap-config
    {"node.cluster.x-k8s.io/uninitialized", "Cluster API"},
};

}  // namespace

std::string known_owner_of_taint(std::string_view key) {
    for (const auto& known : kKnownTaints) {
        const bool is_prefix = known.key.ends_with('/');
        if (is_prefix ? key.starts_with(known.key) : key == known.key) return std::string(known.owner);
    }
    if (key.ends_with("/agent-not-ready")) return "a CSI driver or network agent";
    return {};
}

}  // namespace controllers
