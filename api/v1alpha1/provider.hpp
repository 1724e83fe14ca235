// NodeSmithProvider: where machines come from.
#pragma once
#include "api/v1alpha1/proxmox.hpp"
#include "api/v1alpha1/redfish.hpp"

namespace api::v1alpha1 {

enum class ProviderType { proxmox, redfish, Unrecognized };

struct ProviderSpec {
    ProviderType type = ProviderType::proxmox;
    std::optional<SecretReference> credentialsSecretRef;
    std::map<std::string, boost::json::value> additionalSettings;  // of the Go project; without effect
    Duration orphanGracePeriod = std::chrono::minutes(5);          // 0 = report orphans, never remove
    std::optional<ProxmoxSpec> proxmox;
    std::optional<RedfishSpec> redfish;
    bool operator==(const ProviderSpec&) const = default;
};

// One host as last seen, by what is committed on it, not by momentary use.
struct ProviderHost {
    std::string name;
    bool online = false;
    bool evacuating = false;  // nodes on it shall leave
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    std::int64_t freeCPUCores = 0;
    std::int64_t freeMemoryMiB = 0;
    std::optional<Size> largestMachine;  // what one machine can have at most; absent: not known
    std::int64_t machines = 0;
    std::vector<std::string> machineIDs;  // ours that the free figures leave out
    std::string message;                  // why no machine can be placed there; empty: one can
    bool operator==(const ProviderHost&) const = default;
};

// A template as last seen.
struct ProviderTemplate {
    std::string host;      // whose machines are made from it; "*" = all hosts'
    std::string revision;  // another one: it was replaced, or its content is another
    bool operator==(const ProviderTemplate&) const = default;
};

// The cluster that the provider's machines are on.
struct ProviderCluster {
    std::string name;  // as in providerIDs; empty: it was never visible
    std::string id;    // tells clusters of the same name apart
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
    std::int64_t bootDiskGiB = 0;  // of the machines that are made; 0: not known
    // The Secret that may carry our finalizer for this provider. It is recorded before the finalizer is
    // added.
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
