// NodeSmithClaim: one machine from its request to its removal.
#pragma once
#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

// ClaimSpec is immutable once created.
struct ClaimSpec {
    std::string poolRef;
    Size requirements;  // 0: the smallest size that the pool offers
    ResourceList extendedResources;
    std::string zone;
    StringMap labels;
    std::vector<Taint> taints;
    std::vector<Taint> startupTaints;
    DeletionPolicy deletionPolicy = DeletionPolicy::Delete;
    std::optional<DurationOrNever> expireAfter;
    std::optional<Duration> terminationGracePeriod;
    std::string idempotencyKey;
    bool operator==(const ClaimSpec&) const = default;
};

// ClaimPhase is derived from the conditions, only for the PHASE column.
enum class ClaimPhase {
    Pending,
    Launching,
    Registering,
    Initializing,
    Ready,
    Draining,
    Terminating,
    Failed,
    Unrecognized
};

struct ClaimFailure {
    std::string reason;
    std::string message;
    std::string host;  // host of the failure, used last by the next attempt; "": not the host's fault
    std::optional<Time> time;
    bool refused = false;  // the provider made no machine, as it refused the request for it
    bool operator==(const ClaimFailure&) const = default;
};

// ClaimBoot describes how far the machine came on its way to a Node, to explain why it never joined. It has
// no secrets.
struct ClaimBoot {
    std::string delivery;                // describes how it gets its boot data
    std::string apiServer;               // host and port of the cluster to join
    std::optional<Time> startedTime;     // first seen running
    std::optional<Time> fetchedTime;     // time of its request, if the operator serves its boot data
    std::optional<Time> agentTime;       // first answer of its guest agent
    std::vector<std::string> addresses;  // observed addresses
    bool operator==(const ClaimBoot&) const = default;
};

// ClaimInterface is a network interface of the machine, chosen before the machine is made.
struct ClaimInterface {
    std::string name;  // for example net0
    std::string macAddress;
    bool operator==(const ClaimInterface&) const = default;
};

// ContestedLabel is a label or taint of the Node that somebody else removed or overwrote after we had set it.
struct ContestedLabel {
    std::string key;
    std::string effect;        // of a taint; "": it is a label
    std::string value;         // our value
    std::string found;         // the value found instead; "": none
    std::string manager;       // field manager of the change, if the API server reports it
    std::int32_t count = 0;    // how often it was restored
    std::optional<Time> time;  // last time that it was restored
    bool operator==(const ContestedLabel&) const = default;
};

// VolumePlace is a name of the Node in volumes: the hostname, or the ID that a CSI driver gave it.
struct VolumePlace {
    std::string driver;  // the CSI driver; "": the hostname
    std::string key;     // label in the volumes' node affinity
    std::string value;
    bool operator==(const VolumePlace&) const = default;
};

struct ClaimStatus {
    std::optional<std::int64_t> observedGeneration;
    Conditions conditions;
    std::optional<ClaimPhase> phase;
    std::string size;  // for example "4c/8Gi"
    // The machine. Intended values are recorded here before the request to the provider.
    std::string providerRef;
    std::string host;
    std::string zone;
    std::string machineID;  // its ID at the provider: a VMID, a host's name
    std::string systemUUID;
    std::string providerID;
    std::string cluster;  // identity of the machine's cluster at the provider; empty: not recorded
    std::string taskRef;  // a running task at the provider
    std::int32_t launchAttempts = 0;
    std::int32_t excusedAttempts = 0;  // of these, failed for a temporary cause: they use up no attempt
    bool hasRun = false;               // the machine of a failed attempt ran, so pods waited for it in vain
    std::vector<std::string> failedHosts;  // hosts at fault for failed attempts of this claim: used last
    std::optional<Time> nextRetryTime;
    std::optional<ClaimFailure> lastFailure;
    std::optional<Time> waitsForRoomSince;  // since when no host can take the machine of this attempt
    std::vector<std::string> addresses;
    std::vector<ClaimInterface> networkInterfaces;
    std::optional<ClaimBoot> boot;
    std::optional<Time> keptSince;  // its machine never joined and was stopped and kept (scaleUp.keepFailed)
    std::string bootstrapTokenID;
    std::string bootstrapKeySHA256;  // public key of the certificate that was granted to this attempt
    std::string templateHash;
    std::string templateRevision;  // of the provider's template that it was made from
    // The Node
    std::string nodeName;
    ResourceList capacity;
    ResourceList allocatable;
    // Names other than nodeName. Volumes are found by them after the Node and its CSINode were deleted.
    std::vector<VolumePlace> volumePlaces;
    std::vector<Taint> undeclaredTaints;  // added while the Node was young, and still present
    std::optional<Time> emptySince;
    std::optional<Time> unneededSince;
    std::optional<Time> lastPodEventTime;
    std::vector<ContestedLabel> contestedLabels;
    std::string undoneDisruption;  // kind of the disruption that Disrupted=False ended; "": none
    std::string disruptionCause;   // why its machine is being replaced: "Drifted/2-0123456789abcdef"
    bool operator==(const ClaimStatus&) const = default;
};

struct NodeSmithClaim {
    static constexpr Resource kResource = resource("nodesmithclaims", "NodeSmithClaim");
    ObjectMeta metadata;
    ClaimSpec spec;
    ClaimStatus status;
    bool operator==(const NodeSmithClaim&) const = default;
};

}  // namespace api::v1alpha1
