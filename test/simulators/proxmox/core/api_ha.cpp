// Endpoints for high availability, as far as clients see it. The simulator recovers no machine by itself.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/router.hpp"

namespace proxmox_simulator {
namespace {

std::string full_sid(const std::string& sid) {
    return sid.find(':') == std::string::npos ? "vm:" + sid : sid;
}

asio::awaitable<json::value> list_ha_resources(Call& call) {
    json::array result;
    for (const auto& [sid, state] : call.cluster.world.ha_resources) {
        result.push_back({{"sid", sid}, {"type", "vm"}, {"state", state}, {"digest", "0"}});
    }
    co_return result;
}

asio::awaitable<json::value> get_ha_resource(Call& call) {
    const auto sid = full_sid(call.text("sid"));
    const auto& resources = call.cluster.world.ha_resources;
    const auto found = resources.find(sid);
    if (found == resources.end()) throw failure("no such resource '" + sid + "'");
    co_return json::object{{"sid", sid}, {"type", "vm"}, {"state", found->second}, {"digest", "0"}};
}

asio::awaitable<json::value> add_resource(Call& call) {
    call.cluster.require_quorum();
    auto sid = full_sid(call.text("sid"));
    auto& resources = call.cluster.world.ha_resources;
    if (resources.contains(sid))
        throw failure("create resource failed: resource ID '" + sid + "' already defined");
    resources[sid] = call.text("state", "started");
    co_return nullptr;
}

asio::awaitable<json::value> remove_resource(Call& call) {
    call.cluster.require_quorum();
    auto sid = full_sid(call.text("sid"));
    if (call.cluster.world.ha_resources.erase(sid) == 0)
        throw failure("delete resource failed: no such resource '" + sid + "'");
    co_return nullptr;
}

asio::awaitable<json::value> ha_status(Call& call) {
    auto& cluster = call.cluster;
    json::array result;
    result.push_back({{"id", "quorum"},
                      {"type", "quorum"},
                      {"node", call.node},
                      {"quorate", cluster.has_quorum() ? 1 : 0},
                      {"status", cluster.has_quorum() ? "OK" : "No quorum on node '" + call.node + "'!"}});
    result.push_back({{"id", "fencing"},
                      {"type", "fencing"},
                      {"node", call.node},
                      {"armed-state", "standby"},
                      {"status", "standby (CRM watchdog standby)"}});
    for (const auto& host : cluster.world.hosts) {
        if (!host.maintenance) continue;
        result.push_back({{"id", "lrm:" + host.name},
                          {"type", "lrm"},
                          {"node", host.name},
                          {"status", host.name + " (maintenance mode)"}});
    }
    co_return result;
}

asio::awaitable<json::value> manager_status(Call& call) {
    json::object nodes;
    for (const auto& host : call.cluster.world.hosts) {
        nodes[host.name] = host.maintenance                  ? "maintenance"
                           : call.cluster.seems_online(host) ? "online"
                                                             : "unknown";
    }
    json::object manager{{"master_node", call.cluster.world.hosts.front().name},
                         {"node_status", std::move(nodes)},
                         {"service_status", json::object{}},
                         {"timestamp", call.cluster.wall_seconds()}};
    json::object result{{"manager_status", std::move(manager)},
                        {"quorum", {{"node", call.node}, {"quorate", call.cluster.has_quorum() ? 1 : 0}}},
                        {"lrm_status", json::object{}}};
    co_return result;
}

}  // namespace

Endpoint ha_endpoint(std::string method, std::string path, Handler handler, std::string_view privilege) {
    Endpoint endpoint{.method = std::move(method), .path = std::move(path), .handler = handler};
    endpoint.access = Access::privilege;
    endpoint.permission_path = "/";
    endpoint.privileges = {privilege};
    endpoint.daemon = endpoint.method != "GET";
    return endpoint;
}

void add_ha(Routes& routes) {
    auto list = ha_endpoint("GET", "/cluster/ha/resources", list_ha_resources, "Sys.Audit");
    list.parameters = "type enum=ct|vm";
    routes.add(std::move(list));
    auto add = ha_endpoint("POST", "/cluster/ha/resources", add_resource, "Sys.Console");
    add.parameters = R"(
        sid! format=pve-ha-resource-or-vm-id
        type enum=ct|vm
        state enum=started|stopped|enabled|disabled|ignored
        comment maxlen=4096
        failback boolean
        group format=pve-configid
        max_relocate integer min=0
        max_restart integer min=0)";
    routes.add(std::move(add));
    auto read = ha_endpoint("GET", "/cluster/ha/resources/{sid}", get_ha_resource, "Sys.Audit");
    read.parameters = "sid! format=pve-ha-resource-or-vm-id";
    routes.add(std::move(read));
    auto remove = ha_endpoint("DELETE", "/cluster/ha/resources/{sid}", remove_resource, "Sys.Console");
    remove.parameters = "sid! format=pve-ha-resource-or-vm-id\npurge boolean";
    routes.add(std::move(remove));
    routes.add(ha_endpoint("GET", "/cluster/ha/status/current", ha_status, "Sys.Audit"));
    routes.add(ha_endpoint("GET", "/cluster/ha/status/manager_status", manager_status, "Sys.Audit"));
}

}  // namespace proxmox_simulator
