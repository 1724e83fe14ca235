// Endpoints for a host's own options, and for waking it. Another host sends the packet and gets no answer.
#include "test/simulators/proxmox/core/property_string.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

asio::awaitable<json::value> get_options_of_node(Call& call) {
    const auto& options = call.cluster.host(call.node).options;
    json::object result;
    const auto wanted = call.text("property", "all");
    for (const auto& [name, value] : options)
        if (wanted == "all" || wanted == name) result[name] = value;
    if (options.empty()) co_return result;
    result["digest"] = "0";
    if (wanted == "all") result.emplace("description", "");
    co_return result;
}

asio::awaitable<json::value> set_options_of_node(Call& call) {
    auto& options = call.cluster.host(call.node).options;
    call.cluster.require_quorum();
    for (const auto& name : split_list(call.text("delete"))) options.erase(name);
    for (const char* name : {"description", "wakeonlan", "ballooning-target", "startall-onboot-delay"})
        if (call.has(name)) options[name] = call.text(name);
    co_return nullptr;
}

asio::awaitable<json::value> wake(Call& call) {
    const auto name = call.text("node");
    auto& host = call.cluster.host(name);
    if (name == call.node) throw failure("'" + name + "' is local node, cannot wake my self!");
    const auto set = host.options.find("wakeonlan");
    if (set == host.options.end()) throw failure("No wake on LAN MAC address defined for '" + name + "'!");
    const auto mac = property_of("wakeonlan", set->second, "mac");
    call.cluster.power_on_host(name);
    co_return json::value(mac);
}

}  // namespace

void add_node_config(Routes& routes) {
    const std::string properties =
        "property "
        "enum=acme|acmedomain0|acmedomain1|acmedomain2|acmedomain3|acmedomain4|acmedomain5|ballooning-target|"
        "description|location|startall-onboot-delay|wakeonlan";
    Endpoint query{.method = "GET",
                   .path = "/nodes/{node}/config",
                   .handler = get_options_of_node,
                   .parameters = properties};
    query.place = Place::node;
    query.access = Access::privilege;
    query.permission_path = "/";
    query.privileges = {"Sys.Audit"};
    auto change = query;
    change.method = "PUT";
    change.handler = set_options_of_node;
    change.daemon = true;
    change.privileges = {"Sys.Modify"};
    change.parameters = R"(
        ballooning-target integer min=0 max=100
        delete format=pve-configid-list
        description maxlen=65536
        digest maxlen=40
        startall-onboot-delay integer min=0 max=300
        wakeonlan props=wakeonlan)";
    routes.add(std::move(query));
    routes.add(std::move(change));
    routes.add({.method = "POST",
                .path = "/nodes/{node}/wakeonlan",
                .handler = wake,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/nodes/{node}",
                .privileges = {"Sys.PowerMgmt"}});
}

}  // namespace proxmox_simulator
