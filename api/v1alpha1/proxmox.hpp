// spec.proxmox of a Provider.
#pragma once
#include <boost/json/value.hpp>

#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

struct VMIDRange {
    std::int64_t lower = 0;
    std::int64_t upper = 0;  // inclusive
    bool operator==(const VMIDRange&) const = default;
};

struct NetworkInterface {
    std::string name;  // net0 to net31
    std::string model;
    std::string bridge;
    std::optional<std::int32_t> vlanTag;
    std::string macPrefix;
    bool operator==(const NetworkInterface&) const = default;
};

// VMOption is passed through to Proxmox.
struct VMOption {
    std::string name;
    boost::json::value value;  // string, number or boolean
    bool operator==(const VMOption&) const = default;
};

enum class PlacementStrategy { Spread, MaxMemory, MaxCPU, Balanced, RoundRobin, Unrecognized };

struct HostReserved {
    std::int64_t cpuCores = 1;
    std::int64_t memoryMiB = 2048;
    bool operator==(const HostReserved&) const = default;
};

struct Placement {
    PlacementStrategy strategy = PlacementStrategy::Spread;
    std::vector<std::string> excludedNodes;
    std::vector<std::string> evacuateNodes;
    Size minAvailable;
    std::int32_t cpuAllocationPercent = 400;
    std::int32_t memoryAllocationPercent = 100;
    std::int32_t storageAllocationPercent = 100;
    std::int32_t storageReservedPercent = 5;  // of a storage, never committed, as a full one stops its guests
    HostReserved hostReserved;
    std::int32_t maxConcurrentClonesPerNode = 2;
    std::string zoneLabel = std::string(labels::kZone);  // "": none
    bool operator==(const Placement&) const = default;
};

enum class CloneMode { Auto, Linked, Full, Unrecognized };

struct BootDisk {
    std::string device = "scsi0";
    std::optional<std::int64_t> sizeGiB;  // absent: as in the template
    bool operator==(const BootDisk&) const = default;
};

// TemplateImage is a disk image that Proxmox downloads for templates.
struct TemplateImage {
    std::string url;              // of a qcow2, raw, vmdk or img file
    std::string checksum;         // sha256:..., sha384:... or sha512:...: identifies the image
    std::string storage;          // for the templates' disks
    std::string downloadStorage;  // "": `storage`, or the host's first that accepts imports
    bool operator==(const TemplateImage&) const = default;
};

// Template has exactly one of name, vmid, matchTags and image.
struct Template {
    std::string name;
    std::optional<std::int64_t> vmid;
    std::vector<std::string> matchTags;
    std::optional<TemplateImage> image;
    CloneMode cloneMode = CloneMode::Auto;
    std::string storage;
    std::string format;
    bool localStorage = false;
    BootDisk bootDisk;
    bool operator==(const Template&) const = default;
};

enum class NetworkMode { DHCP, Static, Unrecognized };

// IPv6Network has IPv6 addresses for an interface, in addition to its first family.
struct IPv6Network {
    std::vector<std::string> addresses;  // single addresses or ranges
    std::int32_t prefixLength = 64;
    std::string gateway;
    bool operator==(const IPv6Network&) const = default;
};

struct NetworkRoute {
    std::string to;  // for example 10.9.0.0/16
    std::string via;
    bool operator==(const NetworkRoute&) const = default;
};

// FurtherInterface is an interface without the default route.
struct FurtherInterface {
    std::string name;         // net0 to net31
    std::string networkName;  // as MachineNetwork::name, for this interface
    NetworkMode mode = NetworkMode::DHCP;
    std::vector<std::string> addresses;
    std::int32_t prefixLength = 24;
    std::optional<IPv6Network> ipv6;  // its gateway has no effect here
    std::optional<std::int32_t> mtu;
    std::vector<NetworkRoute> routes;
    bool operator==(const FurtherInterface&) const = default;
};

// MachineNetwork has addresses for machines. A Pool's replaces its Provider's as a whole.
struct MachineNetwork {
    std::string name;  // separates networks with equal addresses; "": by cluster, bridge and VLAN
    NetworkMode mode = NetworkMode::DHCP;
    std::vector<std::string> addresses;  // single addresses or ranges "10.0.4.50-10.0.4.99"
    std::int32_t prefixLength = 24;
    std::string gateway;
    std::vector<std::string> nameservers;
    std::vector<std::string> searchDomains;
    std::string interface = "net0";  // the one that gets these addresses, gateways, mtu and routes
    std::optional<IPv6Network> ipv6;
    std::optional<std::int32_t> mtu;
    std::vector<NetworkRoute> routes;
    std::vector<FurtherInterface> interfaces;
    bool operator==(const MachineNetwork&) const = default;
};

// CustomCloudInit names volumes (storage:snippets/file) that the user placed. They become Proxmox' cicustom.
struct CustomCloudInit {
    std::string user;
    std::string network;
    std::string meta;
    std::string vendor;
    bool operator==(const CustomCloudInit&) const = default;
};

struct CloudInit {
    std::string user;
    std::vector<std::string> sshAuthorizedKeys;
    std::optional<SecretKeyReference> sshAuthorizedKeysSecretRef;
    bool upgradePackages = false;
    std::optional<SecretKeyReference> userDataSecretRef;
    std::string isoStorage;  // "": the host's first storage that accepts ISO images
    MachineNetwork network;
    std::optional<CustomCloudInit> custom;
    bool operator==(const CloudInit&) const = default;
};

struct GuestAgentSettings {
    Duration readyTimeout = std::chrono::minutes(5);
    Duration pollInterval = std::chrono::seconds(2);
    bool operator==(const GuestAgentSettings&) const = default;
};

// ProviderIDFormat is proxmox://CLUSTER/vms/VMID, or proxmox://REGION/VMID as in Proxmox' cloud controller
// manager.
enum class ProviderIDFormat { Cluster, Region, Unrecognized };

struct ProxmoxSpec {
    std::string endpoint;                // for example https://host:8006/api2/json
    std::vector<std::string> endpoints;  // further ones, for failover
    TlsConfig tls;
    std::vector<std::string> nodeWhitelist;  // empty: all hosts
    std::optional<VMIDRange> vmIDRange;
    std::string managedNodeTag = "kubenodesmith-managed";
    std::string region;  // label topology.kubernetes.io/region for Nodes without one; "": none
    ProviderIDFormat providerIDFormat = ProviderIDFormat::Cluster;
    std::int64_t vmMemOverheadMiB = 0;
    std::vector<NetworkInterface> networkInterfaces;
    std::vector<VMOption> vmOptions;
    std::string resourcePool;
    Placement placement;
    std::optional<Template> template_;  // absent: a blank VM
    std::optional<CloudInit> cloudInit;
    GuestAgentSettings guestAgent;
    bool operator==(const ProxmoxSpec&) const = default;
};

}  // namespace api::v1alpha1
