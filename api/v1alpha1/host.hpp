// NodeSmithHost: one bare-metal host behind a BMC.
#pragma once
#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

struct BmcDetails {
    std::string address;                                  // for example https://10.0.0.17
    std::string systemID;                                 // needed only if the BMC has several systems
    std::optional<SecretReference> credentialsSecretRef;  // absent: the Provider's
    std::optional<TlsConfig> tls;
    bool operator==(const BmcDetails&) const = default;
};

struct HostCapacity {
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    ResourceList extended;
    bool operator==(const HostCapacity&) const = default;
};

struct HostSpec {
    std::string providerRef;
    BmcDetails bmc;
    std::string bootMACAddress;
    std::string nodeName;
    std::string systemUUID;
    std::optional<HostCapacity> capacity;
    StringMap labels;
    std::vector<Taint> taints;
    std::int32_t priority = 0;
    bool maintenance = false;
    std::vector<std::string> quirks;
    bool operator==(const HostSpec&) const = default;
};

// ClaimReference is the lock on a host. It is written with resourceVersion and only if absent.
struct ClaimReference {
    std::string name;
    std::string uid;
    bool operator==(const ClaimReference&) const = default;
};

// HostDisks counts disks of the same kind and size.
struct HostDisks {
    std::string kind;  // NVMe, SSD, HDD; empty if unknown
    std::int64_t sizeGB = 0;
    std::int64_t count = 0;
    bool operator==(const HostDisks&) const = default;
};

// HostPorts counts ports of the same speed.
struct HostPorts {
    std::int64_t speedMbps = 0;
    std::int64_t count = 0;
    bool operator==(const HostPorts&) const = default;
};

// HostAccelerators counts accelerators of the same kind and model.
struct HostAccelerators {
    std::string kind;   // as in Redfish: GPU, FPGA, DSP, Accelerator
    std::string model;  // empty if unknown
    std::int64_t count = 0;
    bool operator==(const HostAccelerators&) const = default;
};

// RefusedCredentials are not sent again until the Secret changes, as the BMC might lock the account. They are
// tried once a day, and when a person requests it.
struct RefusedCredentials {
    std::string secret;  // name and resourceVersion
    std::optional<Time> time;
    std::int32_t count = 0;  // number of refusals
    std::string retry;       // value of the annotation kubenodesmith.io/retry-credentials at that time
    bool operator==(const RefusedCredentials&) const = default;
};

enum class HostPhase {
    Discovering,
    Available,
    Reserved,
    PoweringOn,
    Joining,
    InUse,
    Draining,
    PoweringOff,
    Wiping,
    Quarantined,
    Foreign,
    Maintenance,
    Unrecognized
};

struct HostStatus {
    std::optional<std::int64_t> observedGeneration;
    Conditions conditions;
    std::optional<ClaimReference> claimRef;
    std::optional<HostPhase> phase;
    std::string powerState;
    std::string health;
    std::string systemUUID;
    std::string serialNumber;
    std::string model;  // including its manufacturer
    std::string biosVersion;
    std::string bmcVersion;
    std::string architecture;  // as in Nodes: amd64, arm64; empty if unknown
    std::vector<std::string> macs;
    std::optional<HostCapacity> capacity;
    std::vector<HostAccelerators> accelerators;
    std::int32_t failures = 0;
    std::string lastFailure;  // cause of the last failure
    std::optional<Time> nextRetryTime;
    // Time when it was turned on for its claim, or proved to run the claim's Node. Absent: its power is never
    // cut.
    std::optional<Time> wokenTime;
    bool bootPrepared = false;  // its BMC may have our override or image; recorded before it gets them
    std::int32_t erasures = 0;  // requests to erase a drive since the last one that succeeded
    std::optional<Time> lastErasureTime;
    std::optional<std::int64_t> wakeSeconds;
    std::optional<std::int64_t> powerWatts;
    std::vector<HostDisks> disks;
    std::string diskSummary;  // shown in a column: "2x960GB NVMe"
    std::vector<HostPorts> ports;
    std::string portSummary;  // for example "2x25G 4x1G"
    std::optional<RefusedCredentials> refusedCredentials;
    std::string acceptedCredentials;      // name and resourceVersion of their Secret; empty: none
    bool sessionServiceDisabled = false;  // its BMC's session service is switched off
    // Consecutive failed looks. It stops counting where more no longer affects the time of the next look.
    std::int32_t failedLooks = 0;
    // The Secret that may have our finalizer for this host. It is recorded before the finalizer is added.
    std::string protectedSecret;
    // UID of the Node of the last claim on this host. It may be older than the next claim.
    std::string nodeUID;
    bool operator==(const HostStatus&) const = default;
};

struct NodeSmithHost {
    static constexpr Resource kResource = resource("nodesmithhosts", "NodeSmithHost");
    ObjectMeta metadata;
    HostSpec spec;
    HostStatus status;
    bool operator==(const NodeSmithHost&) const = default;
};

// Reports whether its user allows using it although it is on (annotation kubenodesmith.io/adopt).
bool is_adoptable(const NodeSmithHost& host);

}  // namespace api::v1alpha1
