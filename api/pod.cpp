#include "api/pod.hpp"

#include "api/describe.hpp"
#include "api/external_types.hpp"

namespace api {

BOOST_DESCRIBE_ENUM(SelectorOperator, In, NotIn, Exists, DoesNotExist, Gt, Lt, Unrecognized)
BOOST_DESCRIBE_STRUCT(SelectorRequirement, (), (key, operator_, values))
BOOST_DESCRIBE_STRUCT(LabelSelector, (), (matchLabels, matchExpressions))
BOOST_DESCRIBE_STRUCT(NodeSelectorTerm, (), (matchExpressions, matchFields))
BOOST_DESCRIBE_STRUCT(NodeSelector, (), (nodeSelectorTerms))

BOOST_DESCRIBE_STRUCT(ResourceRequirements, (), (requests, limits))
BOOST_DESCRIBE_STRUCT(ContainerPort, (), (containerPort, hostPort, hostIP, protocol))
BOOST_DESCRIBE_STRUCT(ContainerRestartRule, (), (action))
BOOST_DESCRIBE_STRUCT(Container, (), (name, resources, restartPolicy, restartPolicyRules, ports))
BOOST_DESCRIBE_ENUM(TolerationOperator, Equal, Exists, Unrecognized)
BOOST_DESCRIBE_STRUCT(Toleration, (), (key, operator_, value, effect, tolerationSeconds))
BOOST_DESCRIBE_STRUCT(PreferredSchedulingTerm, (), (weight, preference))
BOOST_DESCRIBE_STRUCT(NodeAffinity, (),
                      (requiredDuringSchedulingIgnoredDuringExecution,
                       preferredDuringSchedulingIgnoredDuringExecution))
BOOST_DESCRIBE_STRUCT(PodAffinityTerm, (),
                      (labelSelector, namespaces, namespaceSelector, topologyKey, matchLabelKeys,
                       mismatchLabelKeys))
BOOST_DESCRIBE_STRUCT(WeightedPodAffinityTerm, (), (weight, podAffinityTerm))
BOOST_DESCRIBE_STRUCT(PodAffinity, (),
                      (requiredDuringSchedulingIgnoredDuringExecution,
                       preferredDuringSchedulingIgnoredDuringExecution))
BOOST_DESCRIBE_STRUCT(Affinity, (), (nodeAffinity, podAffinity, podAntiAffinity))
BOOST_DESCRIBE_ENUM(UnsatisfiableConstraintAction, DoNotSchedule, ScheduleAnyway, Unrecognized)
BOOST_DESCRIBE_ENUM(NodeInclusionPolicy, Honor, Ignore, Unrecognized)
BOOST_DESCRIBE_STRUCT(TopologySpreadConstraint, (),
                      (maxSkew, topologyKey, whenUnsatisfiable, labelSelector, minDomains, nodeAffinityPolicy,
                       nodeTaintsPolicy, matchLabelKeys))
BOOST_DESCRIBE_STRUCT(PersistentVolumeClaimVolumeSource, (), (claimName))
BOOST_DESCRIBE_STRUCT(EmptyDirVolumeSource, (), (medium, sizeLimit))
BOOST_DESCRIBE_STRUCT(HostPathVolumeSource, (), (path))
BOOST_DESCRIBE_STRUCT(VolumeResourceRequirements, (), (requests))
BOOST_DESCRIBE_STRUCT(PersistentVolumeClaimSpec, (),
                      (accessModes, storageClassName, volumeName, volumeMode, selector, resources))
BOOST_DESCRIBE_STRUCT(PersistentVolumeClaimTemplate, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(EphemeralVolumeSource, (), (volumeClaimTemplate))
BOOST_DESCRIBE_STRUCT(Volume, (), (name, persistentVolumeClaim, emptyDir, hostPath, ephemeral))
BOOST_DESCRIBE_STRUCT(PodResourceClaim, (), (name, resourceClaimName, resourceClaimTemplateName))
BOOST_DESCRIBE_STRUCT(PodSchedulingGroup, (), (podGroupName))
BOOST_DESCRIBE_STRUCT(PodSpec, (),
                      (nodeName, nodeSelector, affinity, tolerations, topologySpreadConstraints,
                       initContainers, containers, runtimeClassName, overhead, resources, priority,
                       terminationGracePeriodSeconds, hostNetwork, hostUsers, volumes, resourceClaims,
                       schedulingGroup))
BOOST_DESCRIBE_ENUM(PodPhase, Unknown, Pending, Running, Succeeded, Failed, Unrecognized)
BOOST_DESCRIBE_STRUCT(ContainerStatus, (), (name, allocatedResources, resources))
BOOST_DESCRIBE_STRUCT(PodStatus, (),
                      (phase, conditions, nominatedNodeName, startTime, containerStatuses,
                       initContainerStatuses, allocatedResources, resources))
BOOST_DESCRIBE_STRUCT(Pod, (), (metadata, spec, status))

template const Type& type_of<LabelSelector>();
template const Type& type_of<NodeSelector>();
template const Type& type_of<SelectorRequirement>();
template const Type& type_of<PersistentVolumeClaimSpec>();
template const Type& type_of<Toleration>();
template const Type& type_of<PodSpec>();
template const Type& type_of<Pod>();

}  // namespace api
