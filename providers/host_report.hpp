// What one look at a host of bare metal through its BMC has shown.
#pragma once

#include <cstdint>
#include <optional>
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
    std::string system_uuid;  // lower case, as the BMC writes it; empty: it has none that identifies
    std::string serial_number;
    std::vector<std::string> macs;
    std::int64_t cpu_cores = 0;  // logical processors; 0: unknown (never booted since it was unplugged)
    std::int64_t memory_mib = 0;
    std::optional<std::int64_t> power_watts;
    std::vector<DiskGroup> disks;
    std::vector<PortGroup> ports;
    // What cannot be right, or could not be read, and was left out: "MACAddress of .../NIC.1: no address".
    std::vector<std::string> flaws;
    // The version of the Secret that the BMC refused; empty: it refused none.
    std::string refused_credentials;
    std::optional<LockReport> lock;  // nullopt: hosts are not locked
};

}  // namespace providers
