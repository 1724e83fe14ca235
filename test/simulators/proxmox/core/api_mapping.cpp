// Endpoints for hosts' devices, and for mappings of devices to names that machines may use.
#include <boost/json/array.hpp>

#include "base/sha256.hpp"
#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

const std::vector<std::string_view> kSeeingMappings{"Mapping.Audit", "Mapping.Use", "Mapping.Modify"};

std::string path_of(const std::string& mapping) {
    return "/mapping/pci/" + mapping;
}

// Returns the digest of the file with all mappings.
std::string digest_of(const World& world) {
    std::string text;
    for (const auto& [id, mapping] : world.pci_mappings)
        text += id + "\n" + join(mapping.map, "\n") + "\n" + mapping.description + "\n";
    std::string digest;
    for (const auto byte : base::sha256(text)) digest += lower(hex(byte, 2));
    return digest.substr(0, 40);
}

json::object described(const World& world, const PciMapping& mapping) {
    json::object result{{"type", "pci"},
                        {"map", json::array(mapping.map.begin(), mapping.map.end())},
                        {"digest", digest_of(world)}};
    if (!mapping.description.empty()) result["description"] = mapping.description;
    return result;
}

json::array checks_of(const Host& host, const PciMapping& mapping) {
    json::array checks;
    bool is_mapped = false;
    for (const auto& text : mapping.map) {
        const auto device = parse_mapped_device(text);
        if (device.node != host.name) continue;
        is_mapped = true;
        const auto complaint = device_complaint(host, device);
        if (complaint.empty()) continue;
        checks.push_back({{"severity", "error"}, {"message", "Invalid configuration: " + complaint + "\n"}});
    }
    if (!is_mapped)
        checks.push_back({{"severity", "warning"}, {"message", "No mapping for node " + host.name + "."}});
    return checks;
}

asio::awaitable<json::value> list_mappings(Call& call) {
    const auto& world = call.cluster.world;
    const auto checked = call.text("check-node");
    const auto* host = checked.empty() ? nullptr : &call.cluster.host(checked);
    if (host && !host->powered_on) throw RawError(595, "No route to host");
    json::array result;
    for (const auto& [id, mapping] : world.pci_mappings) {
        if (!has_any(world, call.user, path_of(id), kSeeingMappings)) continue;
        auto entry = described(world, mapping);
        entry["id"] = id;
        if (host) entry["checks"] = checks_of(*host, mapping);
        result.push_back(std::move(entry));
    }
    co_return result;
}

asio::awaitable<json::value> list_usb(Call&) {
    co_return json::array{};
}

asio::awaitable<json::value> get_mapping(Call& call) {
    const auto& world = call.cluster.world;
    const auto id = call.text("id");
    if (!has_any(world, call.user, path_of(id), kSeeingMappings)) throw permission_denied();
    const auto found = world.pci_mappings.find(id);
    if (found == world.pci_mappings.end()) throw failure("mapping '" + id + "' not found");
    co_return described(world, found->second);
}

void change(Call& call, PciMapping& mapping) {
    if (call.has("map")) {
        mapping.map.clear();
        for (const auto& item : call.parameters.at("map").as_array())
            mapping.map.emplace_back(item.as_string());
    }
    if (call.has("description")) mapping.description = call.text("description");
}

asio::awaitable<json::value> create_mapping(Call& call) {
    const auto id = call.text("id");
    call.cluster.require_quorum();
    auto& mappings = call.cluster.world.pci_mappings;
    if (mappings.contains(id))
        throw failure("create hardware mapping failed: pci ID '" + id + "' already defined");
    change(call, mappings[id]);
    co_return nullptr;
}

asio::awaitable<json::value> update_mapping(Call& call) {
    const auto id = call.text("id");
    call.cluster.require_quorum();
    auto& mappings = call.cluster.world.pci_mappings;
    if (!mappings.contains(id))
        throw failure("update hardware mapping failed: pci ID '" + id + "' does not exist");
    change(call, mappings[id]);
    co_return nullptr;
}

asio::awaitable<json::value> delete_mapping(Call& call) {
    call.cluster.require_quorum();
    call.cluster.world.pci_mappings.erase(call.text("id"));
    co_return nullptr;
}

asio::awaitable<json::value> list_devices(Call& call) {
    json::array result;
    for (const auto& device : call.cluster.host(call.node).pci_devices)
        result.push_back({{"id", device.address},
                          {"vendor", device.vendor},
                          {"device", device.device},
                          {"subsystem_vendor", device.subsystem_vendor},
                          {"subsystem_device", device.subsystem_device},
                          {"class", device.device_class},
                          {"iommugroup", device.iommugroup}});
    co_return result;
}

asio::awaitable<json::value> list_mediated(Call&) {
    co_return json::array{};
}

Endpoint of_mapping(std::string method, Handler handler, std::string parameters) {
    const bool is_new = method == "POST";
    Endpoint endpoint{.method = std::move(method),
                      .path = is_new ? "/cluster/mapping/pci" : "/cluster/mapping/pci/{id}",
                      .handler = handler,
                      .parameters = std::move(parameters)};
    endpoint.daemon = true;
    endpoint.access = Access::privilege;
    endpoint.permission_path = is_new ? "/mapping/pci" : "/mapping/pci/{id}";
    endpoint.privileges = {"Mapping.Modify"};
    return endpoint;
}

Endpoint of_hardware(std::string path, Handler handler) {
    Endpoint endpoint{.method = "GET", .path = "/nodes/{node}/hardware/pci" + path, .handler = handler};
    endpoint.place = Place::node;
    endpoint.daemon = true;
    endpoint.access = Access::privilege;
    endpoint.permission_path = "/";
    endpoint.privileges = {"Sys.Audit", "Sys.Modify"};
    return endpoint;
}

}  // namespace

void add_mapping(Routes& routes) {
    const std::string id = "id! format=pve-configid\n";
    const std::string optional = R"(
        description maxlen=4096
        mdev boolean
        live-migration-capable boolean)";
    routes.add({.method = "GET",
                .path = "/cluster/mapping/pci",
                .handler = list_mappings,
                .parameters = "check-node format=pve-node"});
    routes.add({.method = "GET",
                .path = "/cluster/mapping/usb",
                .handler = list_usb,
                .parameters = "check-node format=pve-node"});
    routes.add(
        {.method = "GET", .path = "/cluster/mapping/pci/{id}", .handler = get_mapping, .parameters = id});
    routes.add(of_mapping("POST", create_mapping, id + "map! array props=pci-map" + optional));
    routes.add(of_mapping(
        "PUT", update_mapping,
        id + "map array props=pci-map\ndelete format=pve-configid-list\ndigest maxlen=64" + optional));
    routes.add(of_mapping("DELETE", delete_mapping, id));
    routes.add(of_hardware("", list_devices));
    auto mediated = of_hardware("/{pci-id-or-mapping}/mdev", list_mediated);
    mediated.parameters = "pci-id-or-mapping! string";
    routes.add(std::move(mediated));
}

}  // namespace proxmox_simulator
