// What a host is made of. It is good to know and nothing is done with most of it: what is missing or cannot
// be right costs that part only.
#include <algorithm>

#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/hosts/hardware.hpp"

namespace providers::redfish {

namespace {

constexpr std::size_t kMostInterfaces = 16;
constexpr std::size_t kMostDisks = 48;
constexpr std::size_t kMostPorts = 32;
constexpr std::size_t kMostFlaws = 8;

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

asio::awaitable<std::vector<std::string>> Hardware::members_of(std::string name, std::string collection,
                                                               std::vector<std::string>& flaws) {
    std::vector<std::string> links;
    if (collection.empty()) co_return links;
    bool is_missing = false;
    try {
        links = co_await members(collection);
    } catch (const RedfishError& error) {
        is_missing = error.kind() == ErrorKind::not_found || error.kind() == ErrorKind::unsupported ||
                     error.kind() == ErrorKind::other || error.kind() == ErrorKind::invalid_request;
        if (!is_missing) throw;
    }
    if (is_missing) flaws.push_back(name + ": the system names it, but it cannot be read");
    co_return links;
}

asio::awaitable<void> Hardware::read_interfaces(System system, Details& details) {
    auto links = co_await members_of("EthernetInterfaces", system.interfaces, details.flaws);
    if (links.size() > kMostInterfaces) links.resize(kMostInterfaces);
    for (const auto& link : links) {
        const auto resource = co_await bmc_.find(link);
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

asio::awaitable<void> Hardware::read_threads(System system, Details& details) {
    if (system.are_cores_certain) co_return;
    const auto links = co_await members_of("Processors", system.processors, details.flaws);
    for (const auto& link : links) {
        const auto resource = co_await bmc_.find(link);
        if (resource) details.threads += threads_of(resource->body);
    }
}

asio::awaitable<void> Hardware::read_disks(System system, Details& details) {
    const auto controllers = co_await members_of("Storage", system.storage, details.flaws);
    std::size_t read = 0;
    for (const auto& link : controllers) {
        const auto controller = co_await bmc_.find(link);
        if (!controller) continue;
        for (const auto& drive : links_at(controller->body, "Drives")) {
            if (++read > kMostDisks) co_return;
            const auto resource = co_await bmc_.find(drive);
            const auto disk = resource ? disk_of(resource->body) : std::nullopt;
            if (disk) add(details.disks, *disk);
        }
    }
    if (!details.disks.empty() || system.simple_storage.empty()) co_return;
    const auto simple = co_await members_of("SimpleStorage", system.simple_storage, details.flaws);
    for (const auto& link : simple) {
        const auto resource = co_await bmc_.find(link);
        if (!resource) continue;
        for (const auto& device : array_at(resource->body, "Devices")) {
            const auto disk = device.is_object() ? disk_of(device.get_object()) : std::nullopt;
            if (disk && disk->size_gb > 0) add(details.disks, *disk);
        }
    }
}

// Links of hosts that are off have no speed, but their adapters' ports tell what they can.
asio::awaitable<void> Hardware::read_chassis(System system, Details& details) {
    const auto chassis = co_await bmc_.find(system.chassis);
    if (!chassis) co_return;
    const auto metrics = link_at(chassis->body, "EnvironmentMetrics");
    details.power_meter = metrics.empty() ? link_at(chassis->body, "Power") : metrics;
    std::vector<std::string> ignored;  // few BMCs have them
    const auto adapters = co_await members_of("", link_at(chassis->body, "NetworkAdapters"), ignored);
    std::vector<PortGroup> ports;
    std::size_t read = 0;
    for (const auto& link : adapters) {
        const auto adapter = co_await bmc_.find(link);
        if (!adapter) continue;
        auto collection = link_at(adapter->body, "Ports");
        if (collection.empty()) collection = link_at(adapter->body, "NetworkPorts");
        const auto members = co_await members_of("", collection, ignored);
        for (const auto& port : members) {
            if (++read > kMostPorts) break;
            const auto resource = co_await bmc_.find(port);
            if (resource) add(ports, speed_of(resource->body));
        }
    }
    if (!ports.empty()) details.ports = std::move(ports);
}

asio::awaitable<Details> Hardware::details(System system) {
    Details details;
    co_await read_interfaces(system, details);
    co_await read_threads(system, details);
    co_await read_disks(system, details);
    co_await read_chassis(system, details);
    std::ranges::sort(details.disks, {},
                      [](const DiskGroup& disk) { return std::tie(disk.kind, disk.size_gb); });
    std::ranges::sort(details.ports, {}, &PortGroup::speed_mbps);
    if (details.flaws.size() > kMostFlaws) details.flaws.resize(kMostFlaws);
    co_return details;
}

}  // namespace providers::redfish
