#include "test/simulators/proxmox/core/machine_config.hpp"

#include <algorithm>
#include <set>

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"

namespace proxmox_simulator {

bool config_flag(const Config& config, std::string_view option) {
    return config_text(config, option) == "1";
}

std::string config_text(const Config& config, std::string_view option) {
    auto found = config.find(option);
    return found == config.end() ? std::string() : found->second;
}

std::int64_t config_number(const Config& config, std::string_view option, std::int64_t otherwise) {
    return to_integer(config_text(config, option)).value_or(otherwise);
}

std::uint64_t memory_mib(const Config& config) {
    auto text = config_text(config, "memory");
    if (text.empty()) return 512;
    auto number = to_integer(property_of("memory", text, "current"));
    return static_cast<std::uint64_t>(number.value_or(512));
}

int vcpus(const Config& config) {
    auto all = config_number(config, "cores", 1) * config_number(config, "sockets", 1);
    return static_cast<int>(config_number(config, "vcpus", all));
}

bool has_agent(const Config& config) {
    auto text = config_text(config, "agent");
    return !text.empty() && property_of("agent", text, "enabled") == "1";
}

std::string display_name(const Machine& machine) {
    auto name = config_text(machine.config, "name");
    return name.empty() ? "VM " + std::to_string(machine.vmid) : name;
}

std::vector<std::string> boot_order(const Config& config) {
    auto text = config_text(config, "boot");
    auto order = text.empty() ? std::string() : property_of("boot", text, "order");
    if (!order.empty()) return split_list(order);
    auto letters = text.empty() ? std::string() : property_of("boot", text, "legacy");
    if (letters.empty()) letters = text.find("order=") == std::string::npos && text.empty() ? "cdn" : "";
    std::vector<std::string> result;
    for (char letter : letters) {
        for (const auto& [option, drive] : drives(config)) {
            if ((letter == 'c' && !drive.is_cdrom) || (letter == 'd' && drive.is_cdrom))
                result.push_back(option);
        }
        if (letter != 'n') continue;
        for (const auto& [option, value] : config) {
            if (is_network_interface(option)) result.push_back(option);
        }
    }
    return result;
}

Drive parse_drive(const std::string& option, const std::string& value) {
    Drive drive;
    drive.properties = parse_properties(property_group(drive_group(option)), value);
    drive.volume = drive.properties["file"];
    auto media = drive.properties.find("media");
    drive.is_cdrom = (media != drive.properties.end() && media->second == "cdrom") ||
                     drive.volume == "cdrom" || drive.volume.ends_with(":cloudinit");
    return drive;
}

std::map<std::string, Drive> drives(const Config& config) {
    std::map<std::string, Drive> result;
    for (const auto& [option, value] : config) {
        if (is_drive(option)) result.emplace(option, parse_drive(option, value));
    }
    return result;
}

bool is_cloudinit_volume(const std::string& volume) {
    return volume.ends_with(":cloudinit") || volume.ends_with("-cloudinit") ||
           volume.find("-cloudinit.") != std::string::npos;
}

std::uint64_t boot_disk_size(const Config& config) {
    std::uint64_t size = 0;
    auto all = drives(config);
    auto size_of = [&](const std::string& option) -> std::uint64_t {
        auto drive = all.find(option);
        if (drive == all.end() || drive->second.is_cdrom) return 0;
        return parse_size(drive->second.properties["size"]).value_or(0);
    };
    for (const auto& option : boot_order(config)) {
        if (size == 0) size = size_of(option);
    }
    return size;
}

std::string config_digest(const Config& config) {
    std::string text;
    for (const auto& [option, value] : config) text += option + ": " + value + "\n";
    return sha1_hex(text);
}

json::value option_json(const std::string& option, const std::string& value) {
    if (option == "cipassword") return "**********";
    const auto* property = vm_options().find(option);
    bool numeric = property && (property->type == Type::integer || property->type == Type::boolean);
    if (numeric) {
        if (auto number = to_integer(value)) return *number;
    }
    return json::value(value);
}

json::object config_json(const Config& config) {
    json::object result;
    for (const auto& [option, value] : config) result[option] = option_json(option, value);
    result["digest"] = config_digest(config);
    return result;
}

void apply_pending(Machine& machine) {
    for (const auto& option : machine.pending_delete) machine.config.erase(option);
    for (const auto& [option, value] : machine.pending) machine.config[option] = value;
    machine.pending_delete.clear();
    machine.pending.clear();
}

void require_unlocked(const Config& config) {
    auto lock = config.find("lock");
    if (lock != config.end()) throw failure("VM is locked (" + lock->second + ")");
}

std::string normalise_tags(const std::string& tags) {
    std::set<std::string> unique;
    for (const auto& tag : split_list(tags)) unique.insert(lower(tag));
    return join({unique.begin(), unique.end()}, ";");
}

}  // namespace proxmox_simulator
