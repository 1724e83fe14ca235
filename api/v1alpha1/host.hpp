// NodeSmithHost: one bare-metal host behind a BMC.
#pragma once
#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

struct Bmc {
    std::string address;                                  // https://10.0.0.17
    std::string systemID;                                 // needed only if the BMC has more than one system
    std::optional<SecretReference> credentialsSecretRef;  // absent = the Provider's
    std::optional<TlsConfig> tls;
    bool operator==(const Bmc&) const = default;
};

struct HostCapacity {
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    ResourceList extended;
    bool operator==(const HostCapacity&) const = default;
};

struct HostSpec {
    std::string providerRef;
    Bmc bmc;
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

// The lock on a host: written with resourceVersion and only if absent.
struct ClaimReference {
    std::string name;
    std::string uid;
    bool operator==(const ClaimReference&) const = default;
};

// So many disks of one kind and size.
struct HostDisks {
    std::string kind;  // NVMe, SSD, HDD; empty: unknown
    std::int64_t sizeGB = 0;
    std::int64_t count = 0;
    bool operator==(const HostDisks&) const = default;
};

// So many ports of one speed.
struct HostPorts {
    std::int64_t speedMbps = 0;
    std::int64_t count = 0;
    bool operator==(const HostPorts&) const = default;
};

// So many accelerators of one kind and model.
struct HostAccelerators {
    std::string kind;   // as Redfish says: GPU, FPGA, DSP, Accelerator
    std::string model;  // empty: unknown
    std::int64_t count = 0;
    bool operator==(const HostAccelerators&) const = default;
};

// What its BMC refused is not sent again until the Secret is another one, lest the account be locked; but
// once a day, and when a person asks for it.
struct RefusedCredentials {
    std::string secret;  // name and resourceVersion
    std::optional<Time> time;
    std::int32_t count = 0;  // so often
    std::string retry;       // what the annotation kubenodesmith.io/retry-credentials was then
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
    std::string model;  // with its manufacturer
    std::string biosVersion;
    std::string bmcVersion;
    std::string architecture;  // as Nodes say: amd64, arm64; empty: unknown
    std::vector<std::string> macs;
    std::optional<HostCapacity> capacity;
    std::vector<HostAccelerators> accelerators;
    std::int32_t failures = 0;
    std::string lastFailure;  // why the last of these failures was one
    std::optional<Time> nextRetryTime;
    // When it was turned on for its claim, or proved to run the Node of it. Absent: its power is never cut.
    std::optional<Time> wokenTime;
    std::optional<std::int64_t> wakeSeconds;
    std::optional<std::int64_t> powerWatts;
    std::vector<HostDisks> disks;
    std::string diskSummary;  // for a column: "2x960GB NVMe"
    std::vector<HostPorts> ports;
    std::string portSummary;  // "2x25G 4x1G"
    std::optional<RefusedCredentials> refusedCredentials;
    std::string acceptedCredentials;  // of which Secret, by name and resourceVersion; empty: of none
    // Looks in a row that failed; no more is counted than makes a difference to when it is looked at again.
    std::int32_t failedLooks = 0;
    // The Secret that may carry our finalizer for this host. It is recorded before the finalizer is added.
    std::string protectedSecret;
    // UID of the Node that served a claim on this host last: it may be older than the next claim.
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

// Its user allows to take it although it is on (annotation kubenodesmith.io/adopt).
bool is_adoptable(const NodeSmithHost& host);

}  // namespace api::v1alpha1
