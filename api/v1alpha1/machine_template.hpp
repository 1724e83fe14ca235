// spec.machineTemplate of a Pool: the shape of its machines and Nodes.
#pragma once
#include "api/v1alpha1/proxmox.hpp"

namespace api::v1alpha1 {

struct NamedSize {
    std::string name;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    bool operator==(const NamedSize&) const = default;
};

struct CpuRange {
    std::int64_t min = 1;
    std::int64_t max = 64;
    std::int64_t step = 1;
    bool operator==(const CpuRange&) const = default;
};

struct MemoryRange {
    std::int64_t min = 1024;
    std::int64_t max = 262144;
    std::int64_t step = 512;
    bool operator==(const MemoryRange&) const = default;
};

struct FlexibleSize {
    CpuRange cpuCores;
    MemoryRange memoryMiB;
    bool operator==(const FlexibleSize&) const = default;
};

// SystemReserved is capacity minus allocatable.
struct SystemReserved {
    std::int64_t cpuMillicores = 100;
    std::int64_t memoryMiB = 256;
    bool operator==(const SystemReserved&) const = default;
};

// MachinePrice is the price of a machine, in any unit that all pools share. Defaults: a GiB costs 1 and a
// core 4. A machine of any size additionally costs what its system and DaemonSets use.
struct MachinePrice {
    std::optional<Quantity> cpuCore;
    std::optional<Quantity> memoryGiB;
    std::optional<Quantity> machine;
    bool operator==(const MachinePrice&) const = default;
};

struct MachineTemplate {
    StringMap labels;
    StringMap annotations;
    std::vector<Taint> taints;
    std::vector<Taint> startupTaints;
    std::string kubeNodeNamePrefix;  // "": the pool's name
    std::string architecture = "amd64";
    std::vector<NamedSize> sizes;          // empty: flexible
    std::optional<FlexibleSize> flexible;  // absent: its defaults; excludes sizes
    SystemReserved systemReserved;         // used until learned from this pool's Nodes
    ResourceList extendedResources;
    std::map<std::string, std::int64_t> volumeLimits;  // by CSI driver: volumes that one machine can attach
    ResourceList storageCapacity;                      // by StorageClass: room for volumes on one new machine
    std::optional<MachinePrice> price;
    std::optional<MachineNetwork> network;  // absent: the Provider's
    bool operator==(const MachineTemplate&) const = default;
};

}  // namespace api::v1alpha1
