#include "test/support/fake_api_resources.hpp"

#include <algorithm>

namespace fake {
namespace {

// The selectable fields come from AddFieldLabelConversionsFor... in k8s.io/kubernetes/pkg/apis.
const std::vector<ResourceKind>& builtins() {
    static const std::vector<ResourceKind> all{
        {"pods",
         "Pod",
         true,
         true,
         {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
          "spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"}},
        {"nodes", "Node", true, false, {"spec.unschedulable"}},
        {"namespaces", "Namespace", true, false, {"status.phase"}},
        {"limitranges", "LimitRange", false, false, {}},
        {"runtimeclasses.node.k8s.io", "RuntimeClass", false, false, {}},
        {"podgroups.scheduling.x-k8s.io", "PodGroup", true, false, {}},
        {"secrets", "Secret", false, false, {"type"}},
        {"rolebindings.rbac.authorization.k8s.io", "RoleBinding", false, false, {}},
        {"configmaps", "ConfigMap", false, false, {}},
        {"events",
         "Event",
         false,
         false,
         {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
          "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
          "reportingComponent", "source", "type"}},
        {"persistentvolumes", "PersistentVolume", true, false, {}},
        {"persistentvolumeclaims", "PersistentVolumeClaim", true, false, {}},
        {"daemonsets.apps", "DaemonSet", true, true, {}},
        {"poddisruptionbudgets.policy", "PodDisruptionBudget", true, true, {}},
        {"leases.coordination.k8s.io", "Lease", false, false, {}},
        {"services", "Service", true, false, {}},
        {"endpointslices.discovery.k8s.io", "EndpointSlice", false, false, {}},
        {"servicecidrs.networking.k8s.io", "ServiceCIDR", true, false, {}},
        {"storageclasses.storage.k8s.io", "StorageClass", false, false, {}},
        {"csidrivers.storage.k8s.io", "CSIDriver", false, false, {}},
        {"csistoragecapacities.storage.k8s.io", "CSIStorageCapacity", false, false, {}},
        {"csinodes.storage.k8s.io", "CSINode", false, false, {}},
        {"volumeattachments.storage.k8s.io", "VolumeAttachment", true, false, {}},
        {"certificatesigningrequests.certificates.k8s.io",
         "CertificateSigningRequest",
         true,
         false,
         {"spec.signerName"}},
    };
    return all;
}

std::string group_of(const ResourceKind& kind) {
    auto dot = kind.resource.find('.');
    return dot == std::string::npos ? std::string() : kind.resource.substr(dot + 1);
}

}  // namespace

const ResourceKind* find_builtin(const std::string& resource) {
    auto found = std::ranges::find(builtins(), resource, &ResourceKind::resource);
    return found == builtins().end() ? nullptr : &*found;
}

const ResourceKind* find_builtin_kind(const std::string& api_version, const std::string& kind) {
    auto slash = api_version.find('/');
    auto group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
    auto found = std::ranges::find_if(
        builtins(), [&](const ResourceKind& one) { return one.kind == kind && group_of(one) == group; });
    return found == builtins().end() ? nullptr : &*found;
}

bool is_review(const std::string& target) {
    return target == kAccessReviews || target == kOwnAccessReviews || target == kOwnReviews;
}

bool is_builtin_group(const std::string& group) {
    return std::ranges::any_of(builtins(), [&](const ResourceKind& kind) { return group_of(kind) == group; });
}

}  // namespace fake
