// NodeSmithClaim: one machine from wish to Node to grave.
#pragma once
#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

// Immutable once created.
struct ClaimSpec {
    std::string poolRef;
    Size requirements;  // 0 = the smallest that the pool offers
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

// Derived from the conditions, for the PHASE column only.
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
    std::string host;  // where it failed: used last by the next attempt; "" = not the host's fault
    std::optional<Time> time;
    bool operator==(const ClaimFailure&) const = default;
};

// What is known of the way of the machine to its Node, for whoever looks why it never joined. No secrets.
struct ClaimBoot {
    std::string delivery;                // how it gets its boot data, in words
    std::string apiServer;               // host and port that it is told to join
    std::optional<Time> startedTime;     // first seen running
    std::optional<Time> fetchedTime;     // it asked for its boot data, where that is served by the operator
    std::optional<Time> agentTime;       // its guest agent answered first
    std::vector<std::string> addresses;  // that it was seen to have
    bool operator==(const ClaimBoot&) const = default;
};

// A network interface of the machine, chosen before it is made.
struct ClaimInterface {
    std::string name;  // net0
    std::string macAddress;
    bool operator==(const ClaimInterface&) const = default;
};

// A label or taint of the Node that something else removed or overwrote after we had set it.
struct ContestedLabel {
    std::string key;
    std::string effect;        // of a taint; "" = it is a label
    std::string value;         // what we set
    std::string found;         // what was there instead; "" = nothing
    std::string manager;       // field manager that wrote it, where the API server says so
    std::int32_t count = 0;    // how often it was put back
    std::optional<Time> time;  // when it was put back last
    bool operator==(const ContestedLabel&) const = default;
};

struct ClaimStatus {
    std::optional<std::int64_t> observedGeneration;
    Conditions conditions;
    std::optional<ClaimPhase> phase;
    std::string size;  // "4c/8Gi"
    // The machine: what is intended is written here before the provider is asked for it.
    std::string providerRef;
    std::string host;
    std::string zone;
    std::string machineID;  // at the provider: a VMID, a host's name
    std::string systemUUID;
    std::string providerID;
    std::string cluster;  // identity of the provider's cluster that the machine is on; empty: not recorded
    std::string taskRef;  // a task under way at the provider
    std::int32_t launchAttempts = 0;
    std::int32_t excusedAttempts = 0;  // of these, failed of what passes: they use up none of the attempts
    std::vector<std::string> failedHosts;  // hosts to blame for failed attempts of this claim: used last
    std::optional<Time> nextRetryTime;
    std::optional<ClaimFailure> lastFailure;
    std::optional<Time> waitsForRoomSince;  // no host can take the machine of this attempt
    std::vector<std::string> addresses;
    std::vector<ClaimInterface> networkInterfaces;
    std::optional<ClaimBoot> boot;
    std::optional<Time> keptSince;  // its machine never joined and is kept, stopped (scaleUp.keepFailed)
    std::string bootstrapTokenID;
    std::string bootstrapKeySHA256;  // the public key that this attempt was granted a certificate for
    std::string templateHash;
    std::string templateRevision;  // of the provider's template that it was made from
    // The Node
    std::string nodeName;
    ResourceList capacity;
    ResourceList allocatable;
    std::vector<Taint> undeclaredTaints;  // that came while the Node was young and are still there
    std::optional<Time> emptySince;
    std::optional<Time> unneededSince;
    std::optional<Time> lastPodEventTime;
    std::vector<ContestedLabel> contestedLabels;
    std::string undoneDisruption;  // kind of the disruption that Disrupted=False tells the end of; "" = none
    std::string disruptionCause;   // of a disruption that replaces the machine: "Drifted/2-0123456789abcdef"
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
