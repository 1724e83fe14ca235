// What one look at a host of bare metal through its BMC has shown.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace providers {

// Disks of one kind and size, or ports of one speed.
struct DiskGroup {
    std::string kind;  // NVMe, SSD, HDD; empty: unknown
    std::int64_t size_gb = 0;
    std::int64_t count = 0;

    bool operator==(const DiskGroup&) const = default;
};
struct PortGroup {
    std::int64_t speed_mbps = 0;
    std::int64_t count = 0;

    bool operator==(const PortGroup&) const = default;
};

struct AcceleratorGroup {
    std::string kind;   // GPU, FPGA, DSP, Accelerator
    std::string model;  // empty: unknown
    std::int64_t count = 0;

    bool operator==(const AcceleratorGroup&) const = default;
};

// What a host is made of besides its system; no part of it is needed to use the host.
enum class Part { processors, interfaces, storage, chassis, adapters, manager };

// What a lock that other clusters can see says of a host.
struct LockReport {
    bool is_usable = true;  // by this cluster
    std::string reason;     // CamelCase
    std::string message;
};

struct HostReport {
    bool reachable = false;
    bool authenticated = false;
    std::string reason;   // CamelCase if something is wrong: Unreachable, Unauthorized, LicenseRequired, ...
    std::string message;  // what is wrong and what would be right
    base::Duration retry_after{};  // when a failed look is worth repeating; 0: as usual
    std::string power_state;       // as the BMC says it; empty: unknown
    std::string health;
    std::string
        state;  // Absent, Disabled, Updating, ...: while it keeps the host from use; empty: it does not
    std::string system_uuid;  // lower case, as the BMC writes it; empty: it has none that identifies
    std::string serial_number;
    std::string model;
    std::string bios_version;
    std::string bmc_version;
    std::string architecture;  // amd64, arm64, ...; empty: unknown
    std::vector<std::string> macs;
    std::int64_t cpu_cores = 0;  // logical processors; 0: unknown (never booted since it was unplugged)
    std::int64_t memory_mib = 0;
    std::optional<std::int64_t> power_watts;
    std::vector<DiskGroup> disks;
    std::vector<PortGroup> ports;
    std::vector<AcceleratorGroup> accelerators;
    // What could not be read this time: what was known of it before still is.
    std::set<Part> unread;
    std::string boot_obstacle;  // why it cannot be booted as its provider wants; empty: nothing is known
    std::string left_prepared;  // what of a boot that was given up could not be undone; empty: nothing
    // What cannot be right, or could not be read, and was left out: "MACAddress of .../NIC.1: no address".
    std::vector<std::string> flaws;
    // The version of the Secret that the BMC accepted, or refused so often; empty: none.
    std::string accepted_credentials;
    std::string refused_credentials;
    int refusals = 0;
    std::optional<LockReport> lock;  // nullopt: hosts are not locked
};

}  // namespace providers
