// NodeSmithPool: the kind and the number of nodes.
#pragma once
#include "api/v1alpha1/bootstrap.hpp"
#include "api/v1alpha1/machine_template.hpp"

namespace api::v1alpha1 {

// PoolLimits: 0 means unlimited, except for minNodes.
struct PoolLimits {
    std::int64_t minNodes = 0;
    std::int64_t maxNodes = 0;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    bool operator==(const PoolLimits&) const = default;
};

struct Retry {
    Duration initialBackoff = std::chrono::seconds(10);
    Duration maxBackoff = std::chrono::minutes(30);
    bool operator==(const Retry&) const = default;
};

// Headroom is spare capacity kept at all times.
struct Headroom {
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    std::int64_t nodes = 0;
    bool operator==(const Headroom&) const = default;
};

struct ScaleUp {
    Duration stabilizationWindow;    // minimum time between two scale-up decisions
    std::int32_t batchSize = 0;      // maximum of claims per decision, 0: all
    std::int32_t maxConcurrent = 0;  // limit of claims that are not yet Registered, 0: no limit
    Duration provisionTimeout = std::chrono::minutes(10);
    Duration registrationTimeout = std::chrono::minutes(15);
    Duration initializationTimeout = std::chrono::minutes(15);
    // Time during which an undeclared taint of a new Node counts as temporary; 0: it counts as permanent.
    Duration undeclaredTaintTimeout = std::chrono::minutes(5);
    std::int32_t maxLaunchAttempts = 3;
    std::int32_t keepFailed = 0;  // machines that never joined, stopped and kept for inspection: 0 or 1
    Retry retry;
    Headroom headroom;
    bool operator==(const ScaleUp&) const = default;
};

enum class ScaleDownPolicy { WhenEmptyOrUnderutilized, WhenEmpty, Never, Unrecognized };
enum class DrainTimeoutAction { Abort, Force, Unrecognized };

struct ScaleDown {
    ScaleDownPolicy policy = ScaleDownPolicy::WhenEmptyOrUnderutilized;
    Duration stabilizationWindow = std::chrono::minutes(5);  // since the pool's last scale-up
    Duration unneededDuration = std::chrono::minutes(10);
    Duration emptyGracePeriod = std::chrono::minutes(2);
    Duration minNodeAge = std::chrono::minutes(10);
    std::int32_t utilizationThresholdPercent = 50;
    std::int32_t priceThresholdPercent = 0;  // 0: the price of a node is ignored
    std::int32_t headroomPercent = 20;
    std::int32_t maxConcurrent = 1;
    Duration drainTimeout = std::chrono::minutes(10);
    DrainTimeoutAction drainTimeoutAction = DrainTimeoutAction::Abort;
    Duration volumeDetachTimeout = std::chrono::minutes(2);
    Duration delayAfterDelete;
    Duration delayAfterFailure = std::chrono::minutes(10);
    bool operator==(const ScaleDown&) const = default;
};

enum class DriftPolicy { Replace, Ignore, Unrecognized };
enum class RepairAction { Replace, PowerCycleThenReplace, None, Unrecognized };
enum class LocalVolumesPolicy { Keep, Discard, Unrecognized };
enum class EmptyDirPolicy { Evict, Keep, Unrecognized };
enum class DisruptionReason { Empty, Underutilized, Drifted, Expired, Unhealthy, Evacuation, Unrecognized };

struct Repair {
    Duration notReadyFor = std::chrono::minutes(10);
    std::int32_t maxUnhealthyPercent = 20;
    RepairAction action = RepairAction::Replace;
    bool operator==(const Repair&) const = default;
};

struct DisruptionBudget {
    IntOrString nodes = "10%";              // a percentage rounds up
    std::vector<DisruptionReason> reasons;  // empty: all
    std::string schedule;                   // cron, UTC; "": always
    std::optional<Duration> duration;       // time after each start of the schedule
    bool operator==(const DisruptionBudget&) const = default;
};

struct Disruption {
    DriftPolicy drift = DriftPolicy::Replace;
    DurationOrNever expireAfter;
    LocalVolumesPolicy localVolumes = LocalVolumesPolicy::Keep;  // volumes bound to the disks of its nodes
    EmptyDirPolicy emptyDir = EmptyDirPolicy::Evict;             // pods with data in one, for consolidation
    Repair repair;
    std::vector<DisruptionBudget> budgets = {DisruptionBudget{}};
    bool operator==(const Disruption&) const = default;
};

struct PoolSpec {
    std::string providerRef;
    std::string poolLabelKey = std::string(labels::kPool);
    DeletionPolicy deletionPolicy = DeletionPolicy::Delete;
    std::int32_t weight = 0;
    PoolLimits limits;
    MachineTemplate machineTemplate;
    std::optional<Bootstrap> bootstrap;  // absent: the ControlPlane's
    ScaleUp scaleUp;
    ScaleDown scaleDown;
    Disruption disruption;
    bool operator==(const PoolSpec&) const = default;
};

struct PoolClaims {
    std::int64_t pending = 0;
    std::int64_t ready = 0;
    std::int64_t failed = 0;
    std::int64_t deleting = 0;
    bool operator==(const PoolClaims&) const = default;
};

// AddressReservation is a static address and the claim that has it.
struct AddressReservation {
    std::string address;
    std::string claim;
    std::string interface;  // "": net0
    bool operator==(const AddressReservation&) const = default;
};

// Misprediction is a pod that stayed Pending although the node launched for it became Ready. Before
// nextRetryTime, neither it nor other pods of its kind get a machine.
struct Misprediction {
    std::string podUID;
    std::string pod;   // namespace/name, to be read
    std::string kind;  // kind of the pod, shared with similar pods: scheduling/pods/pod_kind.hpp
    std::int32_t count = 0;
    std::optional<Time> nextRetryTime;
    bool operator==(const Misprediction&) const = default;
};

// LearnedOffer is what the pool's Nodes of any size offer besides CPU and memory; 0: unknown.
struct LearnedOffer {
    std::string templateHash;  // of the claims that it was learned from; it is valid for no others
    std::int64_t pods = 0;
    std::int64_t ephemeralStorageMiB = 0;
    bool operator==(const LearnedOffer&) const = default;
};

// LearnedDaemonSet is what pods of a DaemonSet request beyond their template on the pool's newest Nodes. It
// sizes the pool's first machine after all of them are gone.
struct LearnedDaemonSet {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string templateGeneration;  // number of the DaemonSet's template; "": not known
    std::int64_t cpuMillicores = 0;
    std::int64_t memoryMiB = 0;
    std::string templateHash;     // of the claims that it was learned from
    std::optional<Time> expires;  // drop time, set when no Node shows it any longer
    bool operator==(const LearnedDaemonSet&) const = default;
};

// LearnedVolumeLimit is how many volumes of a CSI driver the pool's newest Nodes can attach.
struct LearnedVolumeLimit {
    std::string driver;
    std::int64_t count = 0;
    std::string templateHash;     // of the claims that it was learned from
    std::optional<Time> expires;  // drop time, set when no Node shows it any longer
    bool operator==(const LearnedVolumeLimit&) const = default;
};

// KeptMachine is a machine that never joined and was stopped and kept for inspection (scaleUp.keepFailed). It
// is removed with its claim.
struct KeptMachine {
    std::string claim;
    std::string host;
    std::string machineID;
    std::string message;  // why it failed
    std::optional<Time> time;
    bool operator==(const KeptMachine&) const = default;
};

// Losses counts Nodes, machines and claims that others removed. It ends when an hour passes without another
// loss.
struct Losses {
    std::int32_t count = 0;   // since `since`
    std::int32_t rounds = 0;  // consecutive rounds; a replacement that is also removed begins another round
    std::optional<Time> since;
    std::optional<Time> lastTime;
    std::int64_t sequence = 0;          // nextClaimSequence at the start of the last round
    std::optional<Time> nextRetryTime;  // no claim is created before this time
    std::string reason;                 // of the last loss: NodeDeleted, MachineVanished or ClaimDeleted
    std::string message;                // about the last loss, with hints about its author
    std::vector<std::string> claims;    // UIDs of claims that are already counted and still exist
    bool operator==(const Losses&) const = default;
};

// UndeclaredTaint is a taint that the pool does not declare and that stayed on its youngest Node.
struct UndeclaredTaint {
    std::string key;
    std::string value;
    std::string effect;
    std::int32_t count = 0;             // consecutive machines that had it
    std::optional<Time> nextRetryTime;  // set when no Node has it any longer: it counts until then
    bool operator==(const UndeclaredTaint&) const = default;
};

// PoolContestedLabel is a label or taint that does not stay on the pool's Nodes. Pods are not offered such
// labels.
struct PoolContestedLabel {
    std::string key;
    std::string effect;   // of a taint; "": it is a label
    std::string value;    // our value
    std::string found;    // the value found instead; "": none
    std::string manager;  // field manager of the change; "": unknown
    std::string node;     // the Node with the change
    std::optional<Time> time;
    bool operator==(const PoolContestedLabel&) const = default;
};

// OpenReplacement is a machine that was removed for replacement, until its replacing claim is created.
struct OpenReplacement {
    std::string claim;
    std::string cause;
    std::int32_t count = 0;  // consecutive replacements for this cause, including the next one
    std::optional<Time> time;
    bool operator==(const OpenReplacement&) const = default;
};

// RecentRemoval is a node whose removal began within the last hour, for rateLimits.maxRemovalsPerHour.
struct RecentRemoval {
    std::string claim;
    std::optional<Time> time;
    bool operator==(const RecentRemoval&) const = default;
};

// ReplacementPause means that machines to replace nodes of the pool could not be created.
struct ReplacementPause {
    std::int32_t count = 0;             // consecutive times
    std::optional<Time> nextRetryTime;  // no node is replaced by a cheaper one before this time
    bool operator==(const ReplacementPause&) const = default;
};

struct PoolStatus {
    std::optional<std::int64_t> observedGeneration;
    Conditions conditions;
    std::int64_t nodes = 0;
    std::int64_t readyNodes = 0;
    std::int64_t pendingNodes = 0;
    PoolClaims claims;
    std::int64_t cpuCores = 0;  // counts against the limits
    std::int64_t memoryMiB = 0;
    std::optional<SystemReserved> learnedReserved;
    std::optional<LearnedOffer> learnedOffer;
    std::string learnedTemplateHash;     // of the claims behind learnedReserved
    std::optional<Time> learnedExpires;  // drop time of values that no Node shows; absent: Nodes show all
    std::vector<LearnedDaemonSet> learnedDaemonSets;
    std::vector<LearnedVolumeLimit> learnedVolumeLimits;
    std::int64_t nextClaimSequence = 1;
    Reserved reserved;
    std::vector<AddressReservation> addresses;
    std::string lastPlacedHost;
    std::optional<Time> lastScaleActivity;
    std::optional<Time> lastScaleUpTime;
    std::optional<Time> lastScaleDownTime;
    std::optional<Time> lastScaleFailureTime;
    std::int32_t consecutiveFailures = 0;
    bool lastFailureRefused = false;    // the last failed claim never had a machine
    std::string failedConfiguration;    // fingerprint of what it was made with; a change ends the pause
    std::optional<Time> nextRetryTime;  // no claim is created before this time
    std::vector<Misprediction> mispredictions;
    std::optional<KeptMachine> keptMachine;
    std::optional<Losses> losses;
    std::vector<UndeclaredTaint> undeclaredTaints;
    std::vector<PoolContestedLabel> contestedLabels;
    std::vector<OpenReplacement> openReplacements;
    std::vector<RecentRemoval> recentRemovals;  // only while the ControlPlane limits the rate of removals
    std::optional<ReplacementPause> replacementPause;
    bool operator==(const PoolStatus&) const = default;
};

struct NodeSmithPool {
    static constexpr Resource kResource = resource("nodesmithpools", "NodeSmithPool");
    ObjectMeta metadata;
    PoolSpec spec;
    PoolStatus status;
    bool operator==(const NodeSmithPool&) const = default;
};

}  // namespace api::v1alpha1
