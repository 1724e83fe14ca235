// core/v1 Pod: the fields that scheduling, drain and explanations read. See `kubectl explain pod`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "api/quantity.hpp"
#include "api/selector.hpp"

namespace api {

struct ResourceRequirements {
    ResourceList requests;
    ResourceList limits;
    bool operator==(const ResourceRequirements&) const = default;
};

struct ContainerPort {
    std::int32_t containerPort = 0;
    std::int32_t hostPort = 0;  // 0: none
    std::string hostIP;
    std::string protocol = "TCP";
    bool operator==(const ContainerPort&) const = default;
};

struct ContainerRestartRule {
    std::string action;  // Restart or RestartAllContainers
    bool operator==(const ContainerRestartRule&) const = default;
};

struct Container {
    std::string name;
    ResourceRequirements resources;
    std::string restartPolicy;  // "Always" in an init container makes it a sidecar
    std::vector<ContainerRestartRule> restartPolicyRules;
    std::vector<ContainerPort> ports;
    bool operator==(const Container&) const = default;
};

enum class TolerationOperator { Equal, Exists, Unrecognized };

struct Toleration {
    std::string key;  // "" with Exists tolerates everything
    TolerationOperator operator_ = TolerationOperator::Equal;
    std::string value;
    std::string effect;  // "": all effects
    std::optional<std::int64_t> tolerationSeconds;
    bool operator==(const Toleration&) const = default;
};

struct PreferredSchedulingTerm {
    std::int32_t weight = 0;
    NodeSelectorTerm preference;
    bool operator==(const PreferredSchedulingTerm&) const = default;
};

struct NodeAffinity {
    std::optional<NodeSelector> requiredDuringSchedulingIgnoredDuringExecution;
    std::vector<PreferredSchedulingTerm> preferredDuringSchedulingIgnoredDuringExecution;
    bool operator==(const NodeAffinity&) const = default;
};

struct PodAffinityTerm {
    std::optional<LabelSelector> labelSelector;
    std::vector<std::string> namespaces;
    std::optional<LabelSelector> namespaceSelector;
    std::string topologyKey;
    std::vector<std::string> matchLabelKeys;
    std::vector<std::string> mismatchLabelKeys;
    bool operator==(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
    std::int32_t weight = 0;
    PodAffinityTerm podAffinityTerm;
    bool operator==(const WeightedPodAffinityTerm&) const = default;
};

// PodAffinity is also used for pod anti-affinity, which has the same form.
struct PodAffinity {
    std::vector<PodAffinityTerm> requiredDuringSchedulingIgnoredDuringExecution;
    std::vector<WeightedPodAffinityTerm> preferredDuringSchedulingIgnoredDuringExecution;
    bool operator==(const PodAffinity&) const = default;
};

struct Affinity {
    std::optional<NodeAffinity> nodeAffinity;
    std::optional<PodAffinity> podAffinity;
    std::optional<PodAffinity> podAntiAffinity;
    bool operator==(const Affinity&) const = default;
};

enum class UnsatisfiableConstraintAction { DoNotSchedule, ScheduleAnyway, Unrecognized };
enum class NodeInclusionPolicy { Honor, Ignore, Unrecognized };

struct TopologySpreadConstraint {
    std::int32_t maxSkew = 1;
    std::string topologyKey;
    UnsatisfiableConstraintAction whenUnsatisfiable = UnsatisfiableConstraintAction::DoNotSchedule;
    std::optional<LabelSelector> labelSelector;
    std::optional<std::int32_t> minDomains;
    NodeInclusionPolicy nodeAffinityPolicy = NodeInclusionPolicy::Honor;
    NodeInclusionPolicy nodeTaintsPolicy = NodeInclusionPolicy::Ignore;
    std::vector<std::string> matchLabelKeys;
    bool operator==(const TopologySpreadConstraint&) const = default;
};

struct PersistentVolumeClaimVolumeSource {
    std::string claimName;
    bool operator==(const PersistentVolumeClaimVolumeSource&) const = default;
};

struct EmptyDirVolumeSource {
    std::string medium;  // "": the node's disk
    std::optional<Quantity> sizeLimit;
    bool operator==(const EmptyDirVolumeSource&) const = default;
};

struct HostPathVolumeSource {
    std::string path;
    bool operator==(const HostPathVolumeSource&) const = default;
};

struct VolumeResourceRequirements {
    ResourceList requests;
    bool operator==(const VolumeResourceRequirements&) const = default;
};

struct PersistentVolumeClaimSpec {
    std::vector<std::string> accessModes;
    std::optional<std::string> storageClassName;  // absent: the cluster's default, "": none
    std::string volumeName;
    std::string volumeMode;
    std::optional<LabelSelector> selector;  // selects existing volumes
    VolumeResourceRequirements resources;
    bool operator==(const PersistentVolumeClaimSpec&) const = default;
};

struct PersistentVolumeClaimTemplate {
    ObjectMeta metadata;
    PersistentVolumeClaimSpec spec;
    bool operator==(const PersistentVolumeClaimTemplate&) const = default;
};

// EphemeralVolumeSource makes a claim named <pod>-<volume> that the pod owns.
struct EphemeralVolumeSource {
    std::optional<PersistentVolumeClaimTemplate> volumeClaimTemplate;
    bool operator==(const EphemeralVolumeSource&) const = default;
};

struct Volume {
    std::string name;
    std::optional<PersistentVolumeClaimVolumeSource> persistentVolumeClaim;
    std::optional<EmptyDirVolumeSource> emptyDir;
    std::optional<HostPathVolumeSource> hostPath;
    Shared<EphemeralVolumeSource> ephemeral;
    bool operator==(const Volume&) const = default;
};

// PodResourceClaim is a device that the pod requests (dynamic resource allocation): a claim, or a template
// for one.
struct PodResourceClaim {
    std::string name;
    std::string resourceClaimName;
    std::string resourceClaimTemplateName;
    bool operator==(const PodResourceClaim&) const = default;
};

// PodSchedulingGroup names the PodGroup of the pod, in its namespace. The PodGroup may not exist yet.
struct PodSchedulingGroup {
    std::string podGroupName;
    bool operator==(const PodSchedulingGroup&) const = default;
};

// PodSpec shares the parts that are equal in all pods of a workload.
struct PodSpec {
    std::string nodeName;
    Shared<StringMap> nodeSelector;
    Shared<Affinity> affinity;
    Shared<std::vector<Toleration>> tolerations;
    Shared<std::vector<TopologySpreadConstraint>> topologySpreadConstraints;
    Shared<std::vector<Container>> initContainers;
    Shared<std::vector<Container>> containers;
    std::string runtimeClassName;
    Shared<ResourceList> overhead;
    Shared<ResourceRequirements> resources;  // pod level: overrides the sum of the containers
    std::optional<std::int32_t> priority;
    std::optional<std::int64_t> terminationGracePeriodSeconds;
    bool hostNetwork = false;
    std::optional<bool> hostUsers;  // false: it has a user namespace of its own
    Shared<std::vector<Volume>> volumes;
    Shared<std::vector<PodResourceClaim>> resourceClaims;
    Shared<PodSchedulingGroup> schedulingGroup;
    bool operator==(const PodSpec&) const = default;
};

enum class PodPhase { Unknown, Pending, Running, Succeeded, Failed, Unrecognized };

// ContainerStatus says what a node has reserved for a container and what the container has. Both differ from
// its spec while the pod is resized in place.
struct ContainerStatus {
    std::string name;
    ResourceList allocatedResources;
    std::optional<ResourceRequirements> resources;
    bool operator==(const ContainerStatus&) const = default;
};

struct PodStatus {
    PodPhase phase = PodPhase::Unknown;
    Shared<Conditions> conditions;
    std::string nominatedNodeName;
    std::optional<Time> startTime;
    Shared<std::vector<ContainerStatus>> containerStatuses;
    Shared<std::vector<ContainerStatus>> initContainerStatuses;
    Shared<ResourceList> allocatedResources;  // this and the next are for the whole pod
    Shared<ResourceRequirements> resources;
    bool operator==(const PodStatus&) const = default;
};

struct Pod {
    static constexpr Resource kResource{"", "v1", "pods", "Pod"};
    ObjectMeta metadata;
    PodSpec spec;
    PodStatus status;
    bool operator==(const Pod&) const = default;
};

}  // namespace api
