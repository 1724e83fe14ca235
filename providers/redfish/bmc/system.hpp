// The parts of a ComputerSystem that we need, read from a BMC. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "providers/host_report.hpp"
#include "providers/redfish/bmc/bmc.hpp"

namespace providers::redfish {

// PoweringOn is not yet on and PoweringOff not yet off. If they counted as done, they would hide stuck boots.
enum class PowerState { unknown, on, off, powering_on, powering_off };

struct BootOverride {
    std::string target;   // None, Pxe, UefiHttp, Cd, UsbCd, Hdd, ...; empty: not reported
    std::string enabled;  // Disabled, Once, Continuous; empty: not reported
    std::string mode;     // UEFI, Legacy; empty: not reported
    std::string http_uri;
    std::vector<std::string> allowed;

    bool is_set() const { return !enabled.empty() && enabled != "Disabled" && target != "None"; }
};

struct System {
    std::string link;
    std::string manufacturer;
    std::string model;
    PowerState power = PowerState::unknown;
    std::string power_text;
    std::string health;  // OK, Warning, Critical; empty if unknown
    std::string state;   // only states that prevent its use: Absent, Updating, ...; otherwise empty
    std::string uuid;    // lower case; empty: no usable UUID
    std::string serial_number;
    std::string bios_version;
    std::int64_t cpu_cores = 0;      // 0 if unknown
    bool are_cores_certain = false;  // false: it reported cores, which may have several threads
    std::int64_t memory_mib = 0;
    BootOverride boot;
    std::string reset_link;
    std::vector<std::string> resets;  // allowable values, if reported inline
    std::string action_info_link;     // where they are reported otherwise
    // Links; empty if absent.
    std::string settings;
    std::string interfaces;
    std::string processors;
    std::string storage;
    std::string simple_storage;
    std::string virtual_media;
    std::string manager;
    std::string chassis;
    std::string etag;                      // ETag of the system
    std::optional<std::string> asset_tag;  // nullopt: no such field
    bool is_dell = false;                  // as the system reports it; its service may know more
    std::vector<std::string> flaws;        // impossible values that were left out

    // Reports whether the state passes by itself: the system is starting, or its firmware is being updated.
    bool is_busy() const { return !state.empty() && state != "Absent" && state != "Disabled"; }
    // Reports whether there is no host, or it was taken out of use.
    bool is_out_of_use() const { return state == "Absent" || state == "Disabled"; }
};

System parse_system(const RedfishResource& resource);
BootOverride parse_boot(const json::object& system);
// Returns the reset types in the Parameters of an ActionInfo.
std::vector<std::string> reset_types_of(const json::object& action_info);
// Returns the logical processors of one member of Processors; 0: it is no CPU.
std::int64_t threads_of(const json::object& processor);
// Returns "Contoso G1", without repeating a manufacturer that is already in the model. Empty: both are
// unknown.
std::string full_model(const std::string& manufacturer, const std::string& model);
// Returns the architecture as in Nodes: amd64, arm64, ppc64le, s390x, riscv64. Empty: unknown.
std::string architecture_of(const json::object& processor);
// Returns nullopt if the member of Processors is a CPU or absent. Its count is one.
std::optional<AcceleratorGroup> accelerator_of(const json::object& processor);
// Parses EnvironmentMetrics, or the older Power of a Chassis.
std::optional<std::int64_t> watts_of(const json::object& meter);
// Returns the address of one member of EthernetInterfaces, lower case with colons; empty: none. Adds a flaw
// for an invalid address.
std::string mac_of(const json::object& interface, std::vector<std::string>& flaws);
// Parses one member of a controller's Drives; nullopt: no disk. Its count is one.
std::optional<DiskGroup> disk_of(const json::object& drive);
// Returns the speed of an interface or port in Mbit/s; 0: unknown.
std::int64_t speed_of(const json::object& port);

}  // namespace providers::redfish
