#include "providers/redfish/hosts/hardware_details.hpp"

#include <algorithm>

#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/collection.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

constexpr std::size_t kMostInterfaces = 16;
constexpr std::size_t kMostDisks = 48;
constexpr std::size_t kMostPorts = 32;
constexpr std::size_t kMostFlaws = 8;
constexpr std::size_t kMostAccelerators = 16;
// A silent part costs a whole timeout, so it is skipped for this long.
constexpr base::Duration kSilence = std::chrono::hours{1};

std::string_view name_of(Part part) {
    switch (part) {
        case Part::processors:
            return "Processors";
        case Part::interfaces:
            return "EthernetInterfaces";
        case Part::storage:
            return "Storage";
        case Part::chassis:
            return "Chassis";
        case Part::adapters:
            return "NetworkAdapters";
        case Part::manager:
            return "Manager";
    }
    return "";
}

void add(std::vector<DiskGroup>& groups, const DiskGroup& disk) {
    const auto same = [&disk](const DiskGroup& group) {
        return group.kind == disk.kind && group.size_gb == disk.size_gb;
    };
    const auto found = std::ranges::find_if(groups, same);
    if (found == groups.end()) {
        groups.push_back(disk);
    } else {
        found->count += disk.count;
    }
}

void add(std::vector<AcceleratorGroup>& groups, const AcceleratorGroup& accelerator) {
    const auto same = [&accelerator](const AcceleratorGroup& group) {
        return group.kind == accelerator.kind && group.model == accelerator.model;
    };
    const auto found = std::ranges::find_if(groups, same);
    if (found != groups.end()) {
        found->count += accelerator.count;
    } else if (groups.size() < kMostAccelerators) {
        groups.push_back(accelerator);
    }
}

void add(std::vector<PortGroup>& groups, std::int64_t speed) {
    if (speed == 0) return;
    const auto found = std::ranges::find(groups, speed, &PortGroup::speed_mbps);
    if (found == groups.end()) {
        groups.push_back({speed, 1});
    } else {
        ++found->count;
    }
}

}  // namespace

asio::awaitable<void> DetailsReader::read_interfaces(System system, Details& details) {
    auto links = co_await members_of(bmc_, "EthernetInterfaces", system.interfaces, details.flaws);
    if (links.size() > kMostInterfaces) links.resize(kMostInterfaces);
    for (const auto& link : links) {
        const auto resource = co_await find_once(bmc_, link);
        if (!resource) continue;
        add(details.ports, speed_of(resource->body));
        auto mac = mac_of(resource->body, details.flaws);
        if (mac.empty()) continue;
        if (std::ranges::find(details.macs, mac) == details.macs.end()) {
            details.macs.push_back(std::move(mac));
        } else {
            details.flaws.push_back("MACAddress " + mac + ": two EthernetInterfaces have it");
        }
    }
}

asio::awaitable<void> DetailsReader::read_processors(System system, Details& details) {
    const auto links = co_await members_of(bmc_, "Processors", system.processors, details.flaws);
    for (const auto& link : links) {
        const auto resource = co_await find_once(bmc_, link);
        if (!resource) continue;
        details.threads += threads_of(resource->body);
        if (details.architecture.empty()) details.architecture = architecture_of(resource->body);
        if (const auto accelerator = accelerator_of(resource->body)) add(details.accelerators, *accelerator);
    }
}

asio::awaitable<void> DetailsReader::read_disks(System system, Details& details) {
    const auto controllers = co_await members_of(bmc_, "Storage", system.storage, details.flaws);
    std::size_t read = 0;
    std::set<std::string> paths;  // several controllers may link to the same drive
    for (const auto& link : controllers) {
        const auto controller = co_await find_once(bmc_, link);
        if (!controller) continue;
        for (const auto& drive : links_at(controller->body, "Drives")) {
            if (!paths.insert(path_of_link(drive)).second) continue;
            if (++read > kMostDisks) co_return;
            const auto resource = co_await find_once(bmc_, drive);
            const auto disk = resource ? disk_of(resource->body) : std::nullopt;
            if (disk) add(details.disks, *disk);
        }
    }
    if (!details.disks.empty() || system.simple_storage.empty()) co_return;
    read = 0;
    const auto simple = co_await members_of(bmc_, "SimpleStorage", system.simple_storage, details.flaws);
    for (const auto& link : simple) {
        const auto resource = co_await find_once(bmc_, link);
        if (!resource) continue;
        for (const auto& device : array_at(resource->body, "Devices")) {
            if (++read > kMostDisks) co_return;
            const auto disk = device.is_object() ? disk_of(device.get_object()) : std::nullopt;
            if (disk && disk->size_gb > 0) add(details.disks, *disk);
        }
    }
}

asio::awaitable<void> DetailsReader::read_chassis(System system, Details& details) {
    const auto chassis = co_await find_once(bmc_, system.chassis);
    if (!chassis) co_return;
    const auto metrics = link_at(chassis->body, "EnvironmentMetrics");
    details.power_meter = metrics.empty() ? link_at(chassis->body, "Power") : metrics;
    details.network_adapters = link_at(chassis->body, "NetworkAdapters");
}

// Reads port speeds from the adapters. Links of hosts that are off have no speed, but adapters report what
// their ports support.
asio::awaitable<void> DetailsReader::read_adapters(System, Details& details) {
    std::vector<std::string> ignored;  // few BMCs have them
    const auto adapters = co_await members_of(bmc_, "", details.network_adapters, ignored);
    std::vector<PortGroup> ports;
    std::size_t read = 0;
    for (const auto& link : adapters) {
        const auto adapter = co_await find_once(bmc_, link);
        if (!adapter) continue;
        auto collection = link_at(adapter->body, "Ports");
        if (collection.empty()) collection = link_at(adapter->body, "NetworkPorts");
        const auto members = co_await members_of(bmc_, "", collection, ignored);
        for (const auto& port : members) {
            if (++read > kMostPorts) break;
            const auto resource = co_await find_once(bmc_, port);
            if (resource) add(ports, speed_of(resource->body));
        }
    }
    if (!ports.empty()) details.ports = std::move(ports);
}

// Reads the manager's version. Using the host does not require it, but people ask for it.
asio::awaitable<void> DetailsReader::read_manager(System system, Details& details) {
    const auto links = co_await managers(bmc_, std::move(system));
    for (const auto& link : links) {
        const auto manager = co_await find_once(bmc_, link);
        if (!manager) continue;
        details.bmc_version = foreign::shown(text_at(manager->body, "FirmwareVersion"));
        if (!details.bmc_version.empty()) co_return;
    }
}

asio::awaitable<void> DetailsReader::read_part(Part part, Reader reader, System system, Details& details) {
    auto& silence = silences_[part];
    const bool is_skipped = bmc_.clock().now() < silence.until;
    std::string why = silence.why;
    if (!is_skipped) {
        why.clear();
        try {
            co_await (this->*reader)(std::move(system), details);
        } catch (const RedfishError& error) {
            why = error.complaint.message;
            if (error.kind() == RedfishErrorKind::unreachable) {
                why += "; it is asked again later";
                silence = {bmc_.clock().now() + kSilence, why};
            }
        }
    }
    if (why.empty()) co_return;
    details.unread.insert(part);
    details.flaws.push_back(std::string(name_of(part)) + ": " + why);
}

asio::awaitable<Details> DetailsReader::read(System system) {
    Details details;
    co_await read_part(Part::processors, &DetailsReader::read_processors, system, details);
    co_await read_part(Part::interfaces, &DetailsReader::read_interfaces, system, details);
    co_await read_part(Part::storage, &DetailsReader::read_disks, system, details);
    co_await read_part(Part::chassis, &DetailsReader::read_chassis, system, details);
    co_await read_part(Part::adapters, &DetailsReader::read_adapters, system, details);
    co_await read_part(Part::manager, &DetailsReader::read_manager, system, details);
    std::ranges::sort(details.disks, {},
                      [](const DiskGroup& disk) { return std::tie(disk.kind, disk.size_gb); });
    std::ranges::sort(details.ports, {}, &PortGroup::speed_mbps);
    std::ranges::sort(details.accelerators, {},
                      [](const AcceleratorGroup& group) { return std::tie(group.kind, group.model); });
    if (details.flaws.size() > kMostFlaws) details.flaws.resize(kMostFlaws);
    co_return details;
}

}  // namespace providers::redfish
