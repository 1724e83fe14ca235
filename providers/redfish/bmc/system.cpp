#include "providers/redfish/bmc/system.hpp"

#include <algorithm>
#include <cmath>

#include "base/hex.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr double kMiBPerGiB = 1024;
constexpr double kMostGiB = 1024.0 * 1024;
constexpr std::int64_t kMostProcessors = 65536;
constexpr double kMostWatts = 1e6;

PowerState power_of(const std::string& text) {
    if (text == "On") return PowerState::on;
    if (text == "Off") return PowerState::off;
    if (text == "PoweringOn") return PowerState::powering_on;
    if (text == "PoweringOff") return PowerState::powering_off;
    return PowerState::unknown;
}

// Returns 0 if the number is missing or impossible.
std::int64_t count_at(const json::object& parent, std::string_view name) {
    const auto number = number_at(parent, name);
    return number && *number <= double(kMostProcessors) ? static_cast<std::int64_t>(*number) : 0;
}

struct Cores {
    std::int64_t count = 0;
    bool are_certain = false;
};

// Returns the logical processors. `Count` counts sockets and is useless. With threads enabled each core
// counts twice.
Cores cores_of(const json::object& summary) {
    const auto logical = count_at(summary, "LogicalProcessorCount");
    if (logical > 0) return {logical, true};
    const auto cores = count_at(summary, "CoreCount");
    return {is_true_at(summary, "ThreadingEnabled") ? cores * 2 : cores, false};
}

// Reports whether there is a value, even a useless one.
bool is_told(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    if (!value || value->is_null()) return false;
    return !value->is_string() || !value->get_string().empty();
}

// Returns the value if the schema has it, else an empty text, as readers of the status only know the schema.
std::string one_of(const std::vector<std::string_view>& values, std::string text) {
    return std::ranges::find(values, text) == values.end() ? std::string() : text;
}

// Limit of serial numbers.
constexpr std::size_t kLongestSerialNumber = 128;

std::string text_or(const json::object& parent, std::string_view first, std::string_view second) {
    auto text = text_at(parent, first);
    return text.empty() ? text_at(parent, second) : text;
}

}  // namespace

BootOverride parse_boot(const json::object& system) {
    const auto& boot = object_at(system, "Boot");
    BootOverride result;
    result.target = text_at(boot, "BootSourceOverrideTarget");
    result.enabled = text_at(boot, "BootSourceOverrideEnabled");
    result.mode = text_at(boot, "BootSourceOverrideMode");
    result.http_uri = text_at(boot, "HttpBootUri");
    result.allowed = texts_at(boot, "BootSourceOverrideTarget@Redfish.AllowableValues");
    return result;
}

System parse_system(const RedfishResource& resource) {
    const auto& body = resource.body;
    System system;
    system.link = resource.target;
    system.manufacturer = text_at(body, "Manufacturer");
    system.model = text_at(body, "Model");
    system.bios_version = foreign::shown(text_at(body, "BiosVersion"));
    system.power_text =
        one_of({"On", "Off", "PoweringOn", "PoweringOff", "Paused"}, text_at(body, "PowerState"));
    system.power = power_of(system.power_text);
    const auto& status = object_at(body, "Status");
    system.health = one_of({"OK", "Warning", "Critical"}, text_or(status, "HealthRollup", "Health"));
    system.state = one_of({"Absent", "Disabled", "Starting", "Updating", "UnavailableOffline"},
                          text_at(status, "State"));
    // OpenBMC reports any host that is off as Disabled, and one that is being turned on as Starting.
    const bool is_only_off = system.state == "Disabled" && system.power != PowerState::on;
    const bool is_only_coming = system.state == "Starting" && system.power != PowerState::off;
    if (is_only_off || is_only_coming) system.state.clear();
    const auto uuid = base::lower_case(text_at(body, "UUID"));
    if (base::identifies(uuid)) system.uuid = uuid;
    system.is_dell =
        contains_ignoring_case(system.manufacturer, "dell") || object_at(body, "Oem").contains("Dell");
    // Dell's service tag corresponds to other vendors' serial number; the SKU of others is a product number.
    auto serial =
        foreign::shown(system.is_dell ? text_or(body, "SerialNumber", "SKU") : text_at(body, "SerialNumber"));
    const bool is_serial = serial.size() <= kLongestSerialNumber;
    if (is_serial) system.serial_number = std::move(serial);
    const auto& summary = object_at(body, "ProcessorSummary");
    const auto cores = cores_of(summary);
    system.cpu_cores = cores.count;
    system.are_cores_certain = cores.are_certain;
    const auto& memory_summary = object_at(body, "MemorySummary");
    const auto memory = number_at(memory_summary, "TotalSystemMemoryGiB");
    const bool is_memory = memory && *memory <= kMostGiB;
    if (is_memory) system.memory_mib = static_cast<std::int64_t>(std::floor(*memory * kMiBPerGiB));
    const auto note = [&system](bool is_flawed, const char* what) {
        if (is_flawed) system.flaws.emplace_back(what);
    };
    note(is_told(body, "UUID") && system.uuid.empty(), "UUID: it identifies no system");
    note(!is_serial, "SerialNumber: it is too long");
    note(is_told(summary, "LogicalProcessorCount") && !number_at(summary, "LogicalProcessorCount"),
         "LogicalProcessorCount: it is not a count");
    note(number_at(summary, "LogicalProcessorCount").value_or(0) > double(kMostProcessors),
         "LogicalProcessorCount: no system has so many");
    note(is_told(memory_summary, "TotalSystemMemoryGiB") && !is_memory,
         "TotalSystemMemoryGiB: it is not an amount of memory");
    system.etag = resource.etag;
    if (body.contains("AssetTag")) system.asset_tag = text_at(body, "AssetTag");
    system.boot = parse_boot(body);

    const auto& reset = object_at(object_at(body, "Actions"), "#ComputerSystem.Reset");
    system.reset_link = text_at(reset, "target");
    system.resets = texts_at(reset, "ResetType@Redfish.AllowableValues");
    system.action_info_link = text_at(reset, "@Redfish.ActionInfo");
    system.settings = link_at(object_at(body, "@Redfish.Settings"), "SettingsObject");
    system.interfaces = link_at(body, "EthernetInterfaces");
    system.processors = link_at(body, "Processors");
    system.storage = link_at(body, "Storage");
    system.simple_storage = link_at(body, "SimpleStorage");
    system.virtual_media = link_at(body, "VirtualMedia");
    const auto managers = links_at(object_at(body, "Links"), "ManagedBy");
    if (!managers.empty()) system.manager = managers.front();
    const auto chassis = links_at(object_at(body, "Links"), "Chassis");
    if (!chassis.empty()) system.chassis = chassis.front();
    return system;
}

std::vector<std::string> reset_types_of(const json::object& action_info) {
    for (const auto& entry : array_at(action_info, "Parameters")) {
        if (!entry.is_object() || text_at(entry.get_object(), "Name") != "ResetType") continue;
        return texts_at(entry.get_object(), "AllowableValues");
    }
    return {};
}

std::int64_t threads_of(const json::object& processor) {
    const auto type = text_at(processor, "ProcessorType");
    if (!type.empty() && type != "CPU") return 0;
    const auto threads = count_at(processor, "TotalThreads");
    return threads > 0 ? threads : count_at(processor, "TotalCores");
}

std::string architecture_of(const json::object& processor) {
    const auto type = text_at(processor, "ProcessorType");
    if (!type.empty() && type != "CPU") return "";
    static constexpr std::pair<std::string_view, std::string_view> kByInstructionSet[] = {
        {"x86-64", "amd64"},
        {"ARM-A64", "arm64"},
        {"RV64", "riscv64"},
        {"PowerISA", "ppc64le"},
    };
    const auto told = text_at(processor, "InstructionSet");
    for (const auto& [set, architecture] : kByInstructionSet)
        if (told == set) return std::string(architecture);
    // Many report x86 for processors that support both.
    if (told == "x86" || text_at(processor, "ProcessorArchitecture") == "x86") return "amd64";
    return "";
}

std::optional<AcceleratorGroup> accelerator_of(const json::object& processor) {
    AcceleratorGroup found;
    found.kind = one_of({"GPU", "FPGA", "DSP", "Accelerator"}, text_at(processor, "ProcessorType"));
    if (found.kind.empty() || text_at(object_at(processor, "Status"), "State") == "Absent")
        return std::nullopt;
    found.model = full_model(text_at(processor, "Manufacturer"), text_at(processor, "Model"));
    found.count = 1;
    return found;
}

std::string full_model(const std::string& manufacturer, const std::string& model) {
    const bool is_told_by_model = contains_ignoring_case(model, manufacturer);
    return foreign::shown(is_told_by_model ? model : manufacturer + " " + model);
}

std::optional<std::int64_t> watts_of(const json::object& meter) {
    auto watts = number_at(object_at(meter, "PowerWatts"), "Reading");
    const auto& controls = array_at(meter, "PowerControl");
    if (!watts && !controls.empty() && controls.front().is_object())
        watts = number_at(controls.front().get_object(), "PowerConsumedWatts");
    if (!watts) return std::nullopt;
    return static_cast<std::int64_t>(std::min(*watts, kMostWatts));
}

std::string mac_of(const json::object& interface, std::vector<std::string>& flaws) {
    constexpr std::size_t kLength = 17;
    constexpr std::size_t kInfiniBand = 59;  // 20 bytes
    auto address = base::lower_case(text_or(interface, "MACAddress", "PermanentMACAddress"));
    if (address.empty()) return address;
    const auto where = foreign::shown(text_at(interface, "Id"));
    const auto flaw = [&](const std::string& what) {
        flaws.push_back("MACAddress of EthernetInterface " + (where.empty() ? "without Id" : where) + ": " +
                        what);
        return std::string();
    };
    if (address.size() == kInfiniBand) return flaw("it is an InfiniBand address");
    if (address.size() != kLength || !base::are_hex_pairs(address, ":-"))
        return flaw("it is not a MAC address");
    std::ranges::replace(address, '-', ':');
    return address == "00:00:00:00:00:00" ? std::string() : address;
}

std::optional<DiskGroup> disk_of(const json::object& drive) {
    constexpr double kBytesPerGB = 1e9;
    constexpr double kMostGB = 1e7;
    if (text_at(object_at(drive, "Status"), "State") == "Absent") return std::nullopt;
    DiskGroup disk;
    disk.count = 1;
    disk.kind = one_of({"SSD", "HDD"}, text_at(drive, "MediaType"));
    if (contains_ignoring_case(text_at(drive, "Protocol"), "nvme")) disk.kind = "NVMe";
    const auto gigabytes = number_at(drive, "CapacityBytes").value_or(0) / kBytesPerGB;
    if (gigabytes <= kMostGB) disk.size_gb = static_cast<std::int64_t>(std::llround(gigabytes));
    return disk;
}

std::int64_t speed_of(const json::object& port) {
    constexpr double kMost = 1e7;
    constexpr double kPerGigabit = 1000;
    double speed = 0;
    for (const auto* name : {"MaxSpeedGbps", "CurrentSpeedGbps"})
        if (speed == 0) speed = number_at(port, name).value_or(0) * kPerGigabit;
    for (const auto* name : {"SpeedMbps", "CurrentLinkSpeedMbps"})
        if (speed == 0) speed = number_at(port, name).value_or(0);
    return speed <= kMost ? static_cast<std::int64_t>(speed) : 0;
}

}  // namespace providers::redfish
