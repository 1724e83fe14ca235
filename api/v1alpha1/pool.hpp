// NodeSmithPool: what kind of node, and how many.
#pragma once
#include "api/v1alpha1/bootstrap.hpp"
#include "api/v1alpha1/machine_template.hpp"

namespace api::v1alpha1 {

// 0 = unlimited, except for minNodes.
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

// Spare room kept at all times.
struct Headroom {
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    std::int64_t nodes = 0;
    bool operator==(const Headroom&) const = default;
};

struct ScaleUp {
    Duration stabilizationWindow;    // least time between two scale-up decisions
    std::int32_t batchSize = 0;      // most claims per decision, 0 = all
    std::int32_t maxConcurrent = 0;  // claims not yet Registered at a time, 0 = no bound
    Duration provisionTimeout = std::chrono::minutes(10);
    Duration registrationTimeout = std::chrono::minutes(15);
    Duration initializationTimeout = std::chrono::minutes(15);
    // How long an undeclared taint of a new Node counts as temporary; 0 = it counts as permanent.
    Duration undeclaredTaintTimeout = std::chrono::minutes(5);
    std::int32_t maxLaunchAttempts = 3;
    std::int32_t keepFailed = 0;  // machines that never joined, kept stopped for a look: 0 or 1
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
    std::int32_t priceThresholdPercent = 0;  // 0: the price of a node does not matter
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
enum class DisruptionReason { Empty, Underutilized, Drifted, Expired, Unhealthy, Evacuation, Unrecognized };

struct Repair {
    Duration notReadyFor = std::chrono::minutes(10);
    std::int32_t maxUnhealthyPercent = 20;
    RepairAction action = RepairAction::Replace;
    bool operator==(const Repair&) const = default;
};

struct DisruptionBudget {
    IntOrString nodes = "10%";              // percent rounds up
    std::vector<DisruptionReason> reasons;  // empty = all
    std::string schedule;                   // cron, UTC; "" = always
    std::optional<Duration> duration;       // how long from each start of the schedule
    bool operator==(const DisruptionBudget&) const = default;
};

struct Disruption {
    DriftPolicy drift = DriftPolicy::Replace;
    DurationOrNever expireAfter;
    LocalVolumesPolicy localVolumes = LocalVolumesPolicy::Keep;  // bound volumes on the disks of its nodes
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
    std::optional<Bootstrap> bootstrap;  // absent = the ControlPlane's
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

// A static address and the claim that has it.
struct AddressReservation {
    std::string address;
    std::string claim;
    std::string interface;  // "" = net0
    bool operator==(const AddressReservation&) const = default;
};

// A pod that stayed Pending although the node launched for it became Ready; not launched for before
// nextRetryTime, nor are others of its kind.
struct Misprediction {
    std::string podUID;
    std::string pod;   // namespace/name, to be read
    std::string kind;  // of the pod, which others are of too: scheduling/pods/pod_kind.hpp
    std::int32_t count = 0;
    std::optional<Time> nextRetryTime;
    bool operator==(const Misprediction&) const = default;
};

// What Nodes of the pool offer besides CPU and memory, whatever their size; 0: not known.
struct LearnedOffer {
    std::string templateHash;  // of the claims that it was learned from; it holds for no others
    std::int64_t pods = 0;
    std::int64_t ephemeralStorageMiB = 0;
    bool operator==(const LearnedOffer&) const = default;
};

// A machine that never joined, stopped and kept for a look (scaleUp.keepFailed); it ends with its claim.
struct KeptMachine {
    std::string claim;
    std::string host;
    std::string machineID;
    std::string message;  // why it failed
    std::optional<Time> time;
    bool operator==(const KeptMachine&) const = default;
};

// Nodes, machines and claims that others took away, until an hour passes without another one.
struct Losses {
    std::int32_t count = 0;   // since `since`
    std::int32_t rounds = 0;  // how often in a row; a replacement that was taken away too begins another one
    std::optional<Time> since;
    std::optional<Time> lastTime;
    std::int64_t sequence = 0;          // nextClaimSequence when the last round began
    std::optional<Time> nextRetryTime;  // no claim is created before it
    std::string reason;                 // of the last: NodeDeleted, MachineVanished or ClaimDeleted
    std::string message;                // about the last, with what hints at its author
    std::vector<std::string> claims;    // UIDs of claims that are counted already and still exist
    bool operator==(const Losses&) const = default;
};

// A taint that the pool does not declare and that stayed on its youngest Node.
struct UndeclaredTaint {
    std::string key;
    std::string value;
    std::string effect;
    std::int32_t count = 0;             // machines that showed it in a row
    std::optional<Time> nextRetryTime;  // set when no Node has it any more: it counts until then
    bool operator==(const UndeclaredTaint&) const = default;
};

// A label or taint that does not stay on the pool's Nodes; labels among them are not offered to pods.
struct PoolContestedLabel {
    std::string key;
    std::string effect;   // of a taint; "" = it is a label
    std::string value;    // what we set
    std::string found;    // what was there instead; "" = nothing
    std::string manager;  // field manager that wrote it; "" = not known
    std::string node;     // where it was seen
    std::optional<Time> time;
    bool operator==(const PoolContestedLabel&) const = default;
};

// A machine that was removed to be replaced, until a claim is created that takes its place.
struct OpenReplacement {
    std::string claim;
    std::string cause;
    std::int32_t count = 0;  // of replacements in a row for this cause, with the next one
    std::optional<Time> time;
    bool operator==(const OpenReplacement&) const = default;
};

// A node whose removal was begun within the last hour: for rateLimits.maxRemovalsPerHour.
struct RecentRemoval {
    std::string claim;
    std::optional<Time> time;
    bool operator==(const RecentRemoval&) const = default;
};

// Machines that were to be created instead of nodes of the pool did not come.
struct ReplacementPause {
    std::int32_t count = 0;             // of times in a row
    std::optional<Time> nextRetryTime;  // no node is replaced by a cheaper one before it
    bool operator==(const ReplacementPause&) const = default;
};

struct PoolStatus {
    std::optional<std::int64_t> observedGeneration;
    Conditions conditions;
    std::int64_t nodes = 0;
    std::int64_t readyNodes = 0;
    std::int64_t pendingNodes = 0;
    PoolClaims claims;
    std::int64_t cpuCores = 0;  // in use against the limits
    std::int64_t memoryMiB = 0;
    std::optional<SystemReserved> learnedReserved;
    std::optional<LearnedOffer> learnedOffer;
    std::string learnedTemplateHash;     // of the claims that learnedReserved was learned from
    std::optional<Time> learnedExpires;  // when what no Node shows now is dropped; absent: Nodes show it all
    std::int64_t nextClaimSequence = 1;
    Reserved reserved;
    std::vector<AddressReservation> addresses;
    std::string lastPlacedHost;
    std::optional<Time> lastScaleActivity;
    std::optional<Time> lastScaleUpTime;
    std::optional<Time> lastScaleDownTime;
    std::optional<Time> lastScaleFailureTime;
    std::int32_t consecutiveFailures = 0;
    std::optional<Time> nextRetryTime;  // no claim is created before it
    std::vector<Misprediction> mispredictions;
    std::optional<KeptMachine> keptMachine;
    std::optional<Losses> losses;
    std::vector<UndeclaredTaint> undeclaredTaints;
    std::vector<PoolContestedLabel> contestedLabels;
    std::vector<OpenReplacement> openReplacements;
    std::vector<RecentRemoval> recentRemovals;  // only while the ControlPlane has a rate for removals
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
