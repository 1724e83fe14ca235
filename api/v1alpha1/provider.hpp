// NodeSmithProvider: the source of machines.
#pragma once
#include "api/v1alpha1/proxmox.hpp"
#include "api/v1alpha1/redfish.hpp"

namespace api::v1alpha1 {

enum class ProviderType { proxmox, redfish, Unrecognized };

struct ProviderSpec {
    ProviderType type = ProviderType::proxmox;
    std::optional<SecretReference> credentialsSecretRef;
    std::map<std::string, boost::json::value> additionalSettings;  // from the Go project; without effect
    Duration orphanGracePeriod = std::chrono::minutes(5);          // 0: report orphans, never remove them
    std::optional<ProxmoxSpec> proxmox;
    std::optional<RedfishSpec> redfish;
    bool operator==(const ProviderSpec&) const = default;
};

// ProviderHost is the last known state of one host. Its free capacity follows from commitments, not from
// momentary use.
struct ProviderHost {
    std::string name;
    bool online = false;
    bool evacuating = false;  // nodes are being moved away from it
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    std::int64_t freeCPUCores = 0;
    std::int64_t freeMemoryMiB = 0;
    std::optional<Size> largestMachine;  // limit for one machine; absent: unknown
    std::int64_t machines = 0;
    std::vector<std::string> machineIDs;  // our machines, excluded from the free capacity
    std::string message;                  // why no machine can be placed there; empty: one can
    bool operator==(const ProviderHost&) const = default;
};

// ProviderTemplate is the last known state of a template.
struct ProviderTemplate {
    std::string host;      // host of the machines made from it; "*": all hosts
    std::string revision;  // changes if the template is replaced or its content changes
    bool operator==(const ProviderTemplate&) const = default;
};

// ProviderCluster is the cluster of the provider's machines.
struct ProviderCluster {
    std::string name;  // as in providerIDs; empty: never visible
    std::string id;    // distinguishes clusters with the same name
    bool operator==(const ProviderCluster&) const = default;
};

struct ProviderStatus {
    std::optional<std::int64_t> observedGeneration;
    Conditions conditions;
    std::string endpoint;  // the one in use, or the number of hosts
    std::string version;
    std::int64_t machines = 0;
    std::vector<ProviderHost> hosts;
    std::vector<ProviderTemplate> templates;
    std::optional<ProviderCluster> cluster;
    std::int64_t bootDiskGiB = 0;  // of new machines; 0: unknown
    // The Secret that may have our finalizer for this provider. It is recorded before the finalizer is added.
    std::string protectedSecret;
    bool operator==(const ProviderStatus&) const = default;
};

struct NodeSmithProvider {
    static constexpr Resource kResource = resource("nodesmithproviders", "NodeSmithProvider");
    ObjectMeta metadata;
    ProviderSpec spec;
    ProviderStatus status;
    bool operator==(const NodeSmithProvider&) const = default;
};

}  // namespace api::v1alpha1
