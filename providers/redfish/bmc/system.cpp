#include "providers/redfish/bmc/system.hpp"

#include <algorithm>
#include <cmath>

#include "base/uuid.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr double kMiBPerGiB = 1024;
constexpr double kMostGiB = 1024.0 * 1024;
constexpr std::int64_t kMostProcessors = 65536;
constexpr double kMostWatts = 1e6;

std::string lower(std::string text) {
    for (auto& c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

PowerState power_of(const std::string& text) {
    if (text == "On") return PowerState::on;
    if (text == "Off") return PowerState::off;
    if (text == "PoweringOn") return PowerState::powering_on;
    if (text == "PoweringOff") return PowerState::powering_off;
    return PowerState::unknown;
}

std::int64_t count_at(const json::object& parent, std::string_view name) {
    const auto number = number_at(parent, name);
    return number ? static_cast<std::int64_t>(std::min(*number, double(kMostProcessors))) : 0;
}

// `Count` counts sockets and is of no use. Cores count twice where threads are on.
std::int64_t processors_of(const json::object& summary) {
    const auto logical = count_at(summary, "LogicalProcessorCount");
    if (logical > 0) return logical;
    const auto cores = count_at(summary, "CoreCount");
    return is_true_at(summary, "ThreadingEnabled") ? cores * 2 : cores;
}

// The value if the schema has it, else empty: other text means nothing to readers of the status.
std::string one_of(const std::vector<std::string_view>& values, std::string text) {
    return std::ranges::find(values, text) == values.end() ? std::string() : text;
}

// No serial number is longer.
std::string serial_of(const std::string& text) {
    constexpr std::size_t kLongest = 128;
    auto serial = foreign::shown(text);
    if (serial.size() > kLongest) serial.clear();
    return serial;
}

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
    result.allowed = texts_at(boot, "BootSourceOverrideTarget@Redfish.AllowableValues");
    return result;
}

System parse_system(const Resource& resource) {
    const auto& body = resource.body;
    System system;
    system.link = resource.target;
    system.manufacturer = text_at(body, "Manufacturer");
    system.model = text_at(body, "Model");
    system.power_text =
        one_of({"On", "Off", "PoweringOn", "PoweringOff", "Paused"}, text_at(body, "PowerState"));
    system.power = power_of(system.power_text);
    const auto& status = object_at(body, "Status");
    system.health = one_of({"OK", "Warning", "Critical"}, text_or(status, "HealthRollup", "Health"));
    const auto uuid = lower(text_at(body, "UUID"));
    if (base::identifies(uuid)) system.uuid = uuid;
    system.serial_number = serial_of(text_or(body, "SerialNumber", "SKU"));
    system.cpu_cores = processors_of(object_at(body, "ProcessorSummary"));
    const auto memory = number_at(object_at(body, "MemorySummary"), "TotalSystemMemoryGiB");
    if (memory)
        system.memory_mib = static_cast<std::int64_t>(std::floor(std::min(*memory, kMostGiB) * kMiBPerGiB));
    system.boot = parse_boot(body);

    const auto& reset = object_at(object_at(body, "Actions"), "#ComputerSystem.Reset");
    system.reset_link = text_at(reset, "target");
    system.resets = texts_at(reset, "ResetType@Redfish.AllowableValues");
    system.action_info_link = text_at(reset, "@Redfish.ActionInfo");
    system.settings = link_at(object_at(body, "@Redfish.Settings"), "SettingsObject");
    system.interfaces = link_at(body, "EthernetInterfaces");
    system.processors = link_at(body, "Processors");
    system.storage = link_at(body, "Storage");
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

std::optional<std::int64_t> watts_of(const json::object& meter) {
    auto watts = number_at(object_at(meter, "PowerWatts"), "Reading");
    const auto& controls = array_at(meter, "PowerControl");
    if (!watts && !controls.empty() && controls.front().is_object())
        watts = number_at(controls.front().get_object(), "PowerConsumedWatts");
    if (!watts) return std::nullopt;
    return static_cast<std::int64_t>(std::min(*watts, kMostWatts));
}

std::string mac_of(const json::object& interface) {
    constexpr std::size_t kLongest = 17;
    auto address = lower(text_or(interface, "MACAddress", "PermanentMACAddress"));
    const bool is_address =
        address.size() <= kLongest && address.find_first_not_of("0123456789abcdef:-") == std::string::npos;
    return is_address ? address : std::string();
}

}  // namespace providers::redfish
