// Kubernetes' own kinds that we read or write. Each struct has the fields that we use. Decoding skips the
// rest of an object; as writes are patches, it is never lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/bytes.hpp"
#include "api/meta.hpp"
#include "api/node.hpp"
#include "api/pod.hpp"
#include "api/resource.hpp"
#include "api/storage.hpp"

namespace api {

struct NamespaceStatus {
    std::string phase;
    bool operator==(const NamespaceStatus&) const = default;
};

struct Namespace {
    static constexpr Resource kResource{"", "v1", "namespaces", "Namespace", false};
    ObjectMeta metadata;
    NamespaceStatus status;
    bool operator==(const Namespace&) const = default;
};

struct LimitRangeItem {
    std::string type;  // Container, Pod, PersistentVolumeClaim
    ResourceList default_;
    ResourceList defaultRequest;
    ResourceList max;
    ResourceList min;
    ResourceList maxLimitRequestRatio;
    bool operator==(const LimitRangeItem&) const = default;
};

struct LimitRangeSpec {
    std::vector<LimitRangeItem> limits;
    bool operator==(const LimitRangeSpec&) const = default;
};

// LimitRange has the requests of a namespace's containers that specify none.
struct LimitRange {
    static constexpr Resource kResource{"", "v1", "limitranges", "LimitRange"};
    ObjectMeta metadata;
    LimitRangeSpec spec;
    bool operator==(const LimitRange&) const = default;
};

struct RuntimeClassOverhead {
    ResourceList podFixed;
    bool operator==(const RuntimeClassOverhead&) const = default;
};

struct RuntimeClassScheduling {
    StringMap nodeSelector;
    std::vector<Toleration> tolerations;
    bool operator==(const RuntimeClassScheduling&) const = default;
};

// RuntimeClass (node.k8s.io/v1) is what admission adds to pods that name it.
struct RuntimeClass {
    static constexpr Resource kResource{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false};
    ObjectMeta metadata;
    std::optional<RuntimeClassOverhead> overhead;
    std::optional<RuntimeClassScheduling> scheduling;
    bool operator==(const RuntimeClass&) const = default;
};

struct Secret {
    static constexpr Resource kResource{"", "v1", "secrets", "Secret"};
    ObjectMeta metadata;
    std::string type;
    std::map<std::string, Bytes> data;
    bool operator==(const Secret&) const = default;
};

// RoleBinding has only the fields for its deletion; the rest is written as JSON.
struct RoleBinding {
    static constexpr Resource kResource{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"};
    ObjectMeta metadata;
    bool operator==(const RoleBinding&) const = default;
};

struct ConfigMap {
    static constexpr Resource kResource{"", "v1", "configmaps", "ConfigMap"};
    ObjectMeta metadata;
    StringMap data;
    bool operator==(const ConfigMap&) const = default;
};

struct EventSource {
    std::string component;
    std::string host;
    bool operator==(const EventSource&) const = default;
};

// Event is a core/v1 Event, as shown by `kubectl describe`.
struct Event {
    static constexpr Resource kResource{"", "v1", "events", "Event"};
    ObjectMeta metadata;
    ObjectReference involvedObject;
    std::string type;  // Normal or Warning
    std::string reason;
    std::string message;
    std::string action;
    std::int32_t count = 0;
    std::optional<Time> firstTimestamp;
    std::optional<Time> lastTimestamp;
    EventSource source;
    std::string reportingComponent;
    bool operator==(const Event&) const = default;
};

struct LeaseSpec {
    std::string holderIdentity;
    std::optional<std::int32_t> leaseDurationSeconds;
    std::optional<MicroTime> acquireTime;
    std::optional<MicroTime> renewTime;
    std::optional<std::int32_t> leaseTransitions;
    bool operator==(const LeaseSpec&) const = default;
};

struct Lease {
    static constexpr Resource kResource{"coordination.k8s.io", "v1", "leases", "Lease"};
    ObjectMeta metadata;
    LeaseSpec spec;
    bool operator==(const Lease&) const = default;
};

struct PodTemplateSpec {
    ObjectMeta metadata;
    PodSpec spec;
    bool operator==(const PodTemplateSpec&) const = default;
};

struct DaemonSetSpec {
    std::optional<LabelSelector> selector;
    PodTemplateSpec template_;
    bool operator==(const DaemonSetSpec&) const = default;
};

struct DaemonSet {
    static constexpr Resource kResource{"apps", "v1", "daemonsets", "DaemonSet"};
    ObjectMeta metadata;
    DaemonSetSpec spec;
    bool operator==(const DaemonSet&) const = default;
};

struct PodDisruptionBudgetSpec {
    std::optional<IntOrString> minAvailable;
    std::optional<IntOrString> maxUnavailable;
    std::optional<LabelSelector> selector;
    std::string unhealthyPodEvictionPolicy;  // AlwaysAllow, IfHealthyBudget; empty: the latter
    bool operator==(const PodDisruptionBudgetSpec&) const = default;
};

struct PodDisruptionBudgetStatus {
    std::optional<std::int64_t> observedGeneration;
    std::int32_t disruptionsAllowed = 0;
    std::int32_t currentHealthy = 0;
    std::int32_t desiredHealthy = 0;
    std::int32_t expectedPods = 0;
    bool operator==(const PodDisruptionBudgetStatus&) const = default;
};

struct PodDisruptionBudget {
    static constexpr Resource kResource{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"};
    ObjectMeta metadata;
    PodDisruptionBudgetSpec spec;
    PodDisruptionBudgetStatus status;
    bool operator==(const PodDisruptionBudget&) const = default;
};

// Eviction (policy/v1) is the body of POST pods/NAME/eviction; metadata names the pod.
struct Eviction {
    static constexpr Resource kResource{"policy", "v1", "pods", "Eviction"};
    ObjectMeta metadata;
    std::optional<DeleteOptions> deleteOptions;
    bool operator==(const Eviction&) const = default;
};

struct CertificateSigningRequestSpec {
    Bytes request;  // PKCS#10 as PEM
    std::string signerName;
    std::vector<std::string> usages;
    // The requester. The API server sets both and overwrites the client's values.
    std::string username;
    std::vector<std::string> groups;
    bool operator==(const CertificateSigningRequestSpec&) const = default;
};

struct CertificateSigningRequestCondition {
    std::string type;  // Approved, Denied or Failed
    std::string status;
    std::string reason;
    std::string message;
    bool operator==(const CertificateSigningRequestCondition&) const = default;
};

struct CertificateSigningRequestStatus {
    std::vector<CertificateSigningRequestCondition> conditions;
    bool operator==(const CertificateSigningRequestStatus&) const = default;
};

struct CertificateSigningRequest {
    static constexpr Resource kResource{"certificates.k8s.io", "v1", "certificatesigningrequests",
                                        "CertificateSigningRequest", false};
    ObjectMeta metadata;
    CertificateSigningRequestSpec spec;
    CertificateSigningRequestStatus status;
    bool operator==(const CertificateSigningRequest&) const = default;
};

}  // namespace api
