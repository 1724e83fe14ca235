// A ComputerSystem as we need it, read from what a BMC says. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "providers/host_report.hpp"
#include "providers/redfish/bmc/bmc.hpp"

namespace providers::redfish {

// PoweringOn is not yet on and PoweringOff not yet off: taken for done, they would hide stuck boots.
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
    std::string health;  // OK, Warning, Critical; empty: unknown
    std::string state;   // of those that keep it from use: Absent, Updating, ...; empty: any other
    std::string uuid;    // lower case; empty: none that identifies
    std::string serial_number;
    std::string bios_version;
    std::int64_t cpu_cores = 0;      // 0: unknown
    bool are_cores_certain = false;  // else it was told of cores, which may have several threads
    std::int64_t memory_mib = 0;
    BootOverride boot;
    std::string reset_link;
    std::vector<std::string> resets;  // allowable values, if told inline
    std::string action_info_link;     // where they are told otherwise
    // Links; empty: not there.
    std::string settings;
    std::string interfaces;
    std::string processors;
    std::string storage;
    std::string simple_storage;
    std::string virtual_media;
    std::string manager;
    std::string chassis;
    std::string etag;                      // of the system
    std::optional<std::string> asset_tag;  // nullopt: it has no such field
    bool is_dell = false;                  // by itself; its service may tell more
    std::vector<std::string> flaws;        // what it says that cannot be right and was left out

    // It passes by itself: the system starts, or its firmware is updated.
    bool is_busy() const { return !state.empty() && state != "Absent" && state != "Disabled"; }
    // No host stands there, or it was taken out of use.
    bool is_out_of_use() const { return state == "Absent" || state == "Disabled"; }
};

System parse_system(const Resource& resource);
BootOverride parse_boot(const json::object& system);
// Of the Parameters of an ActionInfo.
std::vector<std::string> reset_types_of(const json::object& action_info);
// Logical processors of one member of Processors; 0: it is no CPU.
std::int64_t threads_of(const json::object& processor);
// "Contoso G1", also where the model names its manufacturer already; empty: neither is told.
std::string full_model(const std::string& manufacturer, const std::string& model);
// As Nodes say: amd64, arm64, ppc64le, s390x, riscv64; empty: the member of Processors does not tell.
std::string architecture_of(const json::object& processor);
// nullopt: the member of Processors is a CPU, or is absent. It counts one.
std::optional<AcceleratorGroup> accelerator_of(const json::object& processor);
// Of EnvironmentMetrics, or of the older Power of a Chassis.
std::optional<std::int64_t> watts_of(const json::object& meter);
// The address of one member of EthernetInterfaces, lower case with colons; empty: it has none. A flaw is
// noted of what is no Ethernet address.
std::string mac_of(const json::object& interface, std::vector<std::string>& flaws);
// One member of a controller's Drives; nullopt: there is no disk. A disk counts one.
std::optional<DiskGroup> disk_of(const json::object& drive);
// Megabits per second of an interface or port; 0: it does not tell.
std::int64_t speed_of(const json::object& port);

}  // namespace providers::redfish
