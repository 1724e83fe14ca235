#include "test/simulators/proxmox/core/pci_devices.hpp"

#include <algorithm>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/property_string.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"

namespace proxmox_simulator {
namespace {

std::string without_prefix(const std::string& number) {
    return number.starts_with("0x") ? number.substr(2) : number;
}

std::vector<MappedDevice> devices_of(const World& world, const std::string& mapping,
                                     const std::string& host) {
    std::vector<MappedDevice> found;
    const auto known = world.pci_mappings.find(mapping);
    if (known == world.pci_mappings.end()) return found;
    for (const auto& text : known->second.map) {
        auto device = parse_mapped_device(text);
        if (device.node == host) found.push_back(std::move(device));
    }
    return found;
}

bool is_taken(const Cluster& cluster, const std::string& host, const std::string& path, int except) {
    return std::ranges::any_of(cluster.world.machines, [&](const auto& entry) {
        const auto& [vmid, machine] = entry;
        return vmid != except && machine.node == host && machine.running &&
               machine.running->devices.contains(path);
    });
}

}  // namespace

MappedDevice parse_mapped_device(const std::string& text) {
    const auto value = [&text](const char* key) { return property_of("pci-map", text, key); };
    return {value("node"), value("path"), value("id"), value("subsystem-id")};
}

std::string device_complaint(const Host& host, const MappedDevice& device) {
    const auto found = std::ranges::find(host.pci_devices, device.path, &PciDevice::address);
    if (found == host.pci_devices.end()) return "pci device '" + device.path + "' not found";
    const auto id = without_prefix(found->vendor) + ":" + without_prefix(found->device);
    if (id != device.id)
        return "'id' does not match for '" + device.path + "' (" + id + " != " + device.id + ")";
    const bool has_subsystem = !found->subsystem_vendor.empty() && !found->subsystem_device.empty();
    if (has_subsystem && device.subsystem.empty())
        return "missing expected property 'subsystem-id' for device '" + device.path + "'";
    return {};
}

bool is_passed_through(std::string_view option) {
    return option.starts_with("hostpci");
}

bool has_passed_through(const Config& config) {
    return std::ranges::any_of(config, [](const auto& entry) { return is_passed_through(entry.first); });
}

void require_device_right(const World& world, const std::string& user, const std::string& option,
                          const std::string& value) {
    if (user == "root@pam") return;
    const auto mapping = property_of("hostpci", value, "mapping");
    if (mapping.empty()) throw failure("only root can set '" + option + "' config for non-mapped devices");
    require(world, user, "/mapping/pci/" + mapping, "Mapping.Use");
}

std::set<std::string> devices_to_take(const Cluster& cluster, const Machine& machine, const Config& config) {
    std::set<std::string> taken;
    for (const auto& [option, value] : config) {
        const auto mapping = is_passed_through(option) ? property_of("hostpci", value, "mapping") : "";
        if (mapping.empty()) continue;
        const auto devices = devices_of(cluster.world, mapping, machine.node);
        if (devices.empty()) throw failure("PCI device mapping not found for '" + mapping + "'");
        const auto host = std::ranges::find(cluster.world.hosts, machine.node, &Host::name);
        for (const auto& device : devices) {
            const auto complaint = device_complaint(*host, device);
            if (!complaint.empty())
                throw failure("PCI device mapping invalid (hardware probably changed): " + complaint + " ");
        }
        const auto is_q35 = config_text(config, "machine").find("q35") != std::string::npos;
        if (property_of("hostpci", value, "pcie") == "1" && !is_q35)
            throw failure("q35 machine model is not enabled");
        const auto free = std::ranges::find_if(devices, [&](const MappedDevice& device) {
            return !taken.contains(device.path) &&
                   !is_taken(cluster, machine.node, device.path, machine.vmid);
        });
        if (free == devices.end()) throw failure("could not find a free device for '" + option + "'");
        taken.insert(free->path);
    }
    return taken;
}

std::vector<std::string> unmapped_options(const World& world, const Config& config, const std::string& host) {
    std::vector<std::string> options;
    for (const auto& [option, value] : config) {
        const auto mapping = is_passed_through(option) ? property_of("hostpci", value, "mapping") : "";
        if (!mapping.empty() && devices_of(world, mapping, host).empty()) options.push_back(option);
    }
    return options;
}

}  // namespace proxmox_simulator
