#include "api/core.hpp"

#include "api/describe.hpp"
#include "api/external_types.hpp"

namespace api {

BOOST_DESCRIBE_STRUCT(Taint, (), (key, value, effect, timeAdded))
BOOST_DESCRIBE_STRUCT(NodeSpec, (), (taints, unschedulable, providerID))
BOOST_DESCRIBE_STRUCT(NodeSystemInfo, (), (machineID, systemUUID, architecture))
BOOST_DESCRIBE_STRUCT(NodeAddress, (), (type, address))
BOOST_DESCRIBE_STRUCT(NodeStatus, (),
                      (capacity, allocatable, conditions, addresses, nodeInfo, declaredFeatures))
BOOST_DESCRIBE_STRUCT(Node, (), (metadata, spec, status))

BOOST_DESCRIBE_STRUCT(NamespaceStatus, (), (phase))
BOOST_DESCRIBE_STRUCT(Namespace, (), (metadata, status))
BOOST_DESCRIBE_STRUCT(LimitRangeItem, (), (type, default_, defaultRequest, max, min, maxLimitRequestRatio))
BOOST_DESCRIBE_STRUCT(LimitRangeSpec, (), (limits))
BOOST_DESCRIBE_STRUCT(LimitRange, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(RuntimeClassOverhead, (), (podFixed))
BOOST_DESCRIBE_STRUCT(RuntimeClassScheduling, (), (nodeSelector, tolerations))
BOOST_DESCRIBE_STRUCT(RuntimeClass, (), (metadata, overhead, scheduling))
BOOST_DESCRIBE_STRUCT(Secret, (), (metadata, type, data))
BOOST_DESCRIBE_STRUCT(RoleBinding, (), (metadata))
BOOST_DESCRIBE_STRUCT(ConfigMap, (), (metadata, data))
BOOST_DESCRIBE_STRUCT(EventSource, (), (component, host))
BOOST_DESCRIBE_STRUCT(Event, (),
                      (metadata, involvedObject, type, reason, message, action, count, firstTimestamp,
                       lastTimestamp, source, reportingComponent))
BOOST_DESCRIBE_STRUCT(LeaseSpec, (),
                      (holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions))
BOOST_DESCRIBE_STRUCT(Lease, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(PodTemplateSpec, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(DaemonSetSpec, (), (selector, template_))
BOOST_DESCRIBE_STRUCT(DaemonSet, (), (metadata, spec))
BOOST_DESCRIBE_STRUCT(PodDisruptionBudgetSpec, (),
                      (minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy))
BOOST_DESCRIBE_STRUCT(PodDisruptionBudgetStatus, (),
                      (observedGeneration, disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods))
BOOST_DESCRIBE_STRUCT(PodDisruptionBudget, (), (metadata, spec, status))
BOOST_DESCRIBE_STRUCT(Eviction, (), (metadata, deleteOptions))

template const Type& type_of<Taint>();
template const Type& type_of<Node>();
template const Type& type_of<Namespace>();
template const Type& type_of<LimitRange>();
template const Type& type_of<RuntimeClass>();
template const Type& type_of<Secret>();
template const Type& type_of<RoleBinding>();
template const Type& type_of<ConfigMap>();
template const Type& type_of<Event>();
template const Type& type_of<Lease>();
template const Type& type_of<DaemonSet>();
template const Type& type_of<PodDisruptionBudget>();
template const Type& type_of<Eviction>();

bool same_taint(const Taint& a, const Taint& b) {
    return a.key == b.key && a.effect == b.effect;
}

const Taint* find_taint(const std::vector<Taint>& taints, std::string_view key, std::string_view effect) {
    for (const Taint& taint : taints)
        if (taint.key == key && taint.effect == effect) return &taint;
    return nullptr;
}

BOOST_DESCRIBE_STRUCT(CertificateSigningRequestSpec, (), (request, signerName, usages, username, groups))
BOOST_DESCRIBE_STRUCT(CertificateSigningRequestCondition, (), (type, status, reason, message))
BOOST_DESCRIBE_STRUCT(CertificateSigningRequestStatus, (), (conditions))
BOOST_DESCRIBE_STRUCT(CertificateSigningRequest, (), (metadata, spec, status))

template const Type& type_of<CertificateSigningRequest>();

}  // namespace api
