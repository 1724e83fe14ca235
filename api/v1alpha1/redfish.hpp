// spec.redfish of a Provider.
#pragma once
#include "api/selector.hpp"
#include "api/v1alpha1/common.hpp"

namespace api::v1alpha1 {

enum class BootMethod { Disk, PXE, UefiHttp, VirtualMedia, Unrecognized };
enum class BootMode { UEFI, Legacy, Unrecognized };
enum class PowerOffMode { GracefulThenForce, GracefulOnly, Force, Unrecognized };
enum class WipeMode { None, SecureErase, Unrecognized };
enum class HostSelection { BestFit, Priority, Spread, Unrecognized };
enum class HostLockField { None, AssetTag, Unrecognized };

struct Boot {
    BootMethod method = BootMethod::Disk;
    BootMode mode = BootMode::UEFI;
    std::string imageURL;     // VirtualMedia
    std::string httpBootURI;  // UefiHttp; "": from DHCP
    bool operator==(const Boot&) const = default;
};

struct PowerOff {
    PowerOffMode mode = PowerOffMode::GracefulThenForce;
    Duration gracefulTimeout = std::chrono::minutes(3);
    bool ejectMedia = true;
    WipeMode wipe = WipeMode::None;
    bool operator==(const PowerOff&) const = default;
};

struct RedfishTimeouts {
    Duration connect = std::chrono::seconds(10);
    Duration request = std::chrono::seconds(60);
    Duration power = std::chrono::minutes(2);
    bool operator==(const RedfishTimeouts&) const = default;
};

struct RedfishConcurrency {
    std::int32_t global = 64;
    std::int32_t perBMC = 1;
    std::int32_t powerOns = 16;
    std::optional<std::int32_t> powerOnsPerGroup;
    std::string groupLabel;
    bool operator==(const RedfishConcurrency&) const = default;
};

struct RedfishPolling {
    Duration idle = std::chrono::minutes(10);
    Duration active = std::chrono::minutes(2);
    bool operator==(const RedfishPolling&) const = default;
};

// RedfishHostLock is a lock on hosts that other clusters can see.
struct RedfishHostLock {
    HostLockField field = HostLockField::None;
    std::vector<std::string> freeValues;  // values of the field that count as empty
    bool operator==(const RedfishHostLock&) const = default;
};

struct RedfishSpec {
    std::optional<LabelSelector> hostSelector;  // absent: every NodeSmithHost that names this provider
    Boot boot;
    PowerOff powerOff;
    RedfishTimeouts timeouts;
    HostSelection selection = HostSelection::BestFit;
    std::string spreadLabel;
    RedfishConcurrency concurrency;
    RedfishPolling polling;
    RedfishHostLock hostLock;
    bool operator==(const RedfishSpec&) const = default;
};

}  // namespace api::v1alpha1
