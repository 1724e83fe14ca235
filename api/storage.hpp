// Volumes, as far as they restrict where pods can run: core/v1 and storage.k8s.io/v1.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.hpp"

namespace api {

struct PersistentVolumeClaimStatus {
    std::string phase;
    bool operator==(const PersistentVolumeClaimStatus&) const = default;
};

struct PersistentVolumeClaim {
    static constexpr Resource kResource{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};
    ObjectMeta metadata;
    PersistentVolumeClaimSpec spec;
    PersistentVolumeClaimStatus status;
    bool operator==(const PersistentVolumeClaim&) const = default;
};

struct VolumeNodeAffinity {
    std::optional<NodeSelector> required;
    bool operator==(const VolumeNodeAffinity&) const = default;
};

struct CSIPersistentVolumeSource {
    std::string driver;
    bool operator==(const CSIPersistentVolumeSource&) const = default;
};

struct ObjectReference {
    std::string apiVersion;
    std::string kind;
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string resourceVersion;
    bool operator==(const ObjectReference&) const = default;
};

struct PersistentVolumeSpec {
    std::vector<std::string> accessModes;
    ResourceList capacity;
    std::string storageClassName;
    std::string volumeMode;
    std::string persistentVolumeReclaimPolicy;  // absent: Retain
    std::optional<ObjectReference> claimRef;
    std::optional<VolumeNodeAffinity> nodeAffinity;
    std::optional<CSIPersistentVolumeSource> csi;
    bool operator==(const PersistentVolumeSpec&) const = default;
};

struct PersistentVolumeStatus {
    std::string phase;
    bool operator==(const PersistentVolumeStatus&) const = default;
};

struct PersistentVolume {
    static constexpr Resource kResource{"", "v1", "persistentvolumes", "PersistentVolume", false};
    ObjectMeta metadata;
    PersistentVolumeSpec spec;
    PersistentVolumeStatus status;
    bool operator==(const PersistentVolume&) const = default;
};

struct TopologySelectorLabelRequirement {
    std::string key;
    std::vector<std::string> values;
    bool operator==(const TopologySelectorLabelRequirement&) const = default;
};

struct TopologySelectorTerm {
    std::vector<TopologySelectorLabelRequirement> matchLabelExpressions;
    bool operator==(const TopologySelectorTerm&) const = default;
};

enum class VolumeBindingMode { Immediate, WaitForFirstConsumer, Unrecognized };

struct StorageClass {
    static constexpr Resource kResource{"storage.k8s.io", "v1", "storageclasses", "StorageClass", false};
    ObjectMeta metadata;
    std::string provisioner;
    VolumeBindingMode volumeBindingMode = VolumeBindingMode::Immediate;
    std::vector<TopologySelectorTerm> allowedTopologies;
    bool operator==(const StorageClass&) const = default;
};

struct CSIDriverSpec {
    bool storageCapacity = false;  // the scheduler reads CSIStorageCapacity objects
    // The scheduler refuses nodes whose CSINode does not list the driver (Kubernetes 1.37).
    bool preventPodSchedulingIfMissing = false;
    bool operator==(const CSIDriverSpec&) const = default;
};

struct CSIDriver {
    static constexpr Resource kResource{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", false};
    ObjectMeta metadata;
    CSIDriverSpec spec;
    bool operator==(const CSIDriver&) const = default;
};

// CSIStorageCapacity is the available capacity of a storage class for nodes with such labels.
struct CSIStorageCapacity {
    static constexpr Resource kResource{"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"};
    ObjectMeta metadata;
    std::string storageClassName;
    std::optional<LabelSelector> nodeTopology;  // absent: available on no node
    std::optional<Quantity> capacity;
    std::optional<Quantity> maximumVolumeSize;  // overrides capacity
    bool operator==(const CSIStorageCapacity&) const = default;
};

struct VolumeNodeResources {
    std::optional<std::int32_t> count;  // limit of the driver's volumes on the node
    bool operator==(const VolumeNodeResources&) const = default;
};

struct CSINodeDriver {
    std::string name;
    std::string nodeID;  // the driver's name of the node
    std::vector<std::string> topologyKeys;
    std::optional<VolumeNodeResources> allocatable;
    bool operator==(const CSINodeDriver&) const = default;
};

struct CSINodeSpec {
    std::vector<CSINodeDriver> drivers;
    bool operator==(const CSINodeSpec&) const = default;
};

struct CSINode {
    static constexpr Resource kResource{"storage.k8s.io", "v1", "csinodes", "CSINode", false};
    ObjectMeta metadata;
    CSINodeSpec spec;
    bool operator==(const CSINode&) const = default;
};

struct VolumeAttachmentSource {
    std::string persistentVolumeName;
    bool operator==(const VolumeAttachmentSource&) const = default;
};

struct VolumeAttachmentSpec {
    std::string nodeName;
    VolumeAttachmentSource source;
    bool operator==(const VolumeAttachmentSpec&) const = default;
};

struct VolumeAttachmentStatus {
    bool attached = false;
    bool operator==(const VolumeAttachmentStatus&) const = default;
};

struct VolumeAttachment {
    static constexpr Resource kResource{"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment",
                                        false};
    ObjectMeta metadata;
    VolumeAttachmentSpec spec;
    VolumeAttachmentStatus status;
    bool operator==(const VolumeAttachment&) const = default;
};

}  // namespace api
