// spec.machineTemplate of a Pool: what its machines and Nodes look like.
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

// Capacity minus allocatable.
struct SystemReserved {
    std::int64_t cpuMillicores = 100;
    std::int64_t memoryMiB = 256;
    bool operator==(const SystemReserved&) const = default;
};

// What a machine costs, in any unit that all pools share. Absent fields: a GiB costs 1, a core 4, and a
// machine, whatever its size, what its system and DaemonSets take of it.
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
    std::string kubeNodeNamePrefix;  // "" = the pool's name
    std::string architecture = "amd64";
    std::vector<NamedSize> sizes;          // empty = flexible
    std::optional<FlexibleSize> flexible;  // absent = its defaults; not together with sizes
    SystemReserved systemReserved;         // until learned from this pool's Nodes
    ResourceList extendedResources;
    std::map<std::string, std::int64_t> volumeLimits;  // by CSI driver: what one machine can attach
    std::optional<MachinePrice> price;
    std::optional<MachineNetwork> network;  // absent = the Provider's
    bool operator==(const MachineTemplate&) const = default;
};

}  // namespace api::v1alpha1
