// NodeSmithControlPlane: which pools are active, and the settings for all of them.
#pragma once
#include "api/v1alpha1/bootstrap.hpp"

namespace api::v1alpha1 {

enum class Mode { Active, Observe, Paused, Unrecognized };
// Preferences says whether a pod's preferences are worth a machine.
enum class Preferences { WhereFree, Respect, Unrecognized };

// RateLimits: 0 means no limit.
struct RateLimits {
    std::int32_t maxCreationsPerHour = 0;
    std::int32_t maxRemovalsPerHour = 0;
    bool operator==(const RateLimits&) const = default;
};

struct Batching {
    Duration idleDuration = std::chrono::seconds(1);
    Duration maxDuration = std::chrono::seconds(10);
    bool operator==(const Batching&) const = default;
};

// ControlPlaneLimits: 0 means unlimited.
struct ControlPlaneLimits {
    std::int64_t maxNodes = 0;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    bool operator==(const ControlPlaneLimits&) const = default;
};

// ClusterHealth has limits of unready Nodes. If both are exceeded, launching and disruption pause.
struct ClusterHealth {
    std::int32_t maxUnreadyPercent = 45;
    std::int32_t okUnreadyCount = 3;
    bool operator==(const ClusterHealth&) const = default;
};

// The default is the cluster-autoscaler's (--expendable-pods-priority-cutoff).
inline constexpr std::int32_t kIgnorePodsBelowPriority = -10;

struct ControlPlaneSpec {
    std::vector<std::string> pools;  // names; "*": all of the namespace
    Mode mode = Mode::Active;
    RateLimits rateLimits;
    Batching batching;
    ControlPlaneLimits limits;
    ClusterHealth health;
    // Pods with a lower priority are expendable: they get no machines, and they do not keep a node.
    std::int32_t ignorePodsBelowPriority = kIgnorePodsBelowPriority;
    // True if the operator nominates new Nodes for their pods.
    bool nominate = true;
    // Applies to preferred affinity and anti-affinity, and to spreads with ScheduleAnyway.
    Preferences preferences = Preferences::WhereFree;
    std::optional<Bootstrap> bootstrap;  // for pools without their own
    bool operator==(const ControlPlaneSpec&) const = default;
};

struct ControlPlaneStatus {
    std::optional<std::int64_t> observedGeneration;
    Conditions conditions;
    std::optional<Time> lastSyncTime;  // time of the last change
    std::int64_t pools = 0;
    std::int64_t nodes = 0;
    std::int64_t readyNodes = 0;
    std::int64_t pendingNodes = 0;
    std::int64_t claims = 0;
    Reserved reserved;
    bool operator==(const ControlPlaneStatus&) const = default;
};

struct NodeSmithControlPlane {
    static constexpr Resource kResource = resource("nodesmithcontrolplanes", "NodeSmithControlPlane");
    ObjectMeta metadata;
    ControlPlaneSpec spec;
    ControlPlaneStatus status;
    bool operator==(const NodeSmithControlPlane&) const = default;
};

}  // namespace api::v1alpha1
