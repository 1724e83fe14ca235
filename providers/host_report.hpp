// Results of one examination of a bare-metal host through its BMC.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace providers {

// DiskGroup counts disks of the same kind and size; PortGroup counts ports of the same speed.
struct DiskGroup {
    std::string kind;  // NVMe, SSD, HDD; empty if unknown
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
    std::string model;  // empty if unknown
    std::int64_t count = 0;

    bool operator==(const AcceleratorGroup&) const = default;
};

// Part names a part of the host besides its system. Using the host requires none of them.
enum class Part { processors, interfaces, storage, chassis, adapters, manager };

// LockReport is the state of a host lock that other clusters can see.
struct LockReport {
    bool is_usable = true;  // for this cluster
    std::string reason;     // in CamelCase
    std::string message;
};

struct HostReport {
    bool reachable = false;
    bool authenticated = false;
    std::string reason;   // CamelCase, if something is wrong: Unreachable, Unauthorized, LicenseRequired, ...
    std::string message;  // says what is wrong and how to correct it
    base::Duration retry_after{};  // time until a failed examination is worth repeating; 0: usual interval
    std::string power_state;       // as the BMC reports it; empty if unknown
    std::string health;
    std::string
        state;  // Absent, Disabled, Updating, ...: set while it prevents using the host; otherwise empty
    std::string system_uuid;  // lower case, in the BMC's byte order; empty: no usable UUID
    std::string serial_number;
    std::string model;
    std::string bios_version;
    std::string bmc_version;
    std::string architecture;  // amd64, arm64, ...; empty if unknown
    std::vector<std::string> macs;
    std::int64_t cpu_cores = 0;  // logical processors; 0 if unknown (never booted since it was unplugged)
    std::int64_t memory_mib = 0;
    std::optional<std::int64_t> power_watts;
    std::vector<DiskGroup> disks;
    std::vector<PortGroup> ports;
    std::vector<AcceleratorGroup> accelerators;
    // Parts that could not be read this time. Earlier knowledge of them stays valid.
    std::set<Part> unread;
    std::string boot_obstacle;  // why the provider cannot boot it as configured; empty: no known obstacle
    std::string left_prepared;  // parts of an abandoned boot that could not be undone; empty: none
    // Values that are invalid or unreadable and were left out, e.g. "MACAddress of .../NIC.1: no address".
    std::vector<std::string> flaws;
    // Versions of the Secrets that the BMC accepted and refused, and the number of refusals; empty: none.
    std::string accepted_credentials;
    std::string refused_credentials;
    int refusals = 0;
    bool are_sessions_off = false;   // the BMC's session service is switched off
    std::optional<LockReport> lock;  // nullopt: hosts are not locked
};

}  // namespace providers
