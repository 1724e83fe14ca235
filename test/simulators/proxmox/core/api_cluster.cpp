// Endpoints for the whole cluster: version, membership, the resource list, free VM IDs, datacenter options.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/property_string.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/tag_rights.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

asio::awaitable<json::value> get_version(Call& call) {
    const auto& version = call.cluster.world.version;
    co_return json::object{
        {"version", version}, {"release", version.substr(0, version.rfind('.'))}, {"repoid", "5e1f00d5"}};
}

asio::awaitable<json::value> cluster_status(Call& call) {
    auto& cluster = call.cluster;
    json::array result;
    if (!cluster.world.standalone) {
        result.push_back({{"type", "cluster"},
                          {"id", "cluster"},
                          {"name", cluster.world.cluster_name},
                          {"version", cluster.world.hosts.size()},
                          {"nodes", cluster.world.hosts.size()},
                          {"quorate", cluster.has_quorum(call.node) ? 1 : 0}});
    }
    for (const auto& host : cluster.world.hosts) {
        result.push_back({{"type", "node"},
                          {"id", "node/" + host.name},
                          {"name", host.name},
                          {"nodeid", cluster.world.standalone ? 0 : host.node_id},
                          {"ip", host.ip},
                          {"local", host.name == call.node ? 1 : 0},
                          {"online", cluster.seems_online(host, call.node) ? 1 : 0},
                          {"level", ""}});
    }
    co_return result;
}

void merge(json::object& entry, const std::optional<json::object>& statistics) {
    if (!statistics) return;
    for (const auto& [key, value] : *statistics) entry[key] = value;
}

json::object machine_resource(Cluster& cluster, const Machine& machine) {
    json::object entry{{"id", "qemu/" + std::to_string(machine.vmid)},
                       {"type", "qemu"},
                       {"node", machine.node},
                       {"vmid", machine.vmid},
                       {"status", "unknown"}};
    merge(entry, cluster.statistics.of_machine(machine.node, machine.vmid));
    if (auto tags = config_text(machine.config, "tags"); !tags.empty()) entry["tags"] = tags;
    if (auto lock = config_text(machine.config, "lock"); !lock.empty()) entry["lock"] = lock;
    for (const auto& [id, pool] : cluster.world.pools) {
        if (pool.vms.contains(machine.vmid)) entry["pool"] = id;
    }
    auto ha = cluster.world.ha_resources.find("vm:" + std::to_string(machine.vmid));
    if (ha != cluster.world.ha_resources.end()) entry["hastate"] = ha->second;
    return entry;
}

json::object host_resource(Cluster& cluster, const Host& host, const std::string& observer) {
    json::object entry{{"id", "node/" + host.name},
                       {"type", "node"},
                       {"node", host.name},
                       {"level", ""},
                       {"maxcpu", host.cpus},
                       {"maxmem", host.memory},
                       {"status", cluster.seems_online(host, observer) ? "online" : "offline"}};
    const auto statistics = cluster.statistics.of_host(host.name, observer);
    merge(entry, statistics);
    const bool is_silent = cluster.seems_online(host, observer) && !statistics;
    if (is_silent) {
        entry["status"] = "unknown";
        entry.erase("maxcpu");
        entry.erase("maxmem");
    }
    if (host.maintenance) entry["hastate"] = "maintenance";
    return entry;
}

// Without Sys.Audit the caller sees a host, but neither its load nor its size.
json::object shown_host(Call& call, const Host& host) {
    auto entry = host_resource(call.cluster, host, call.node);
    if (has_any(call.cluster.world, call.user, "/nodes/" + host.name, {"Sys.Audit"})) return entry;
    for (const char* key : {"cpu", "mem", "maxcpu", "maxmem", "disk", "maxdisk", "uptime", "cgroup-mode"})
        entry.erase(key);
    return entry;
}

json::object storage_resource(Cluster& cluster, const Storage& storage, const std::string& host) {
    json::object entry{{"id", "storage/" + host + "/" + storage.id},
                       {"type", "storage"},
                       {"node", host},
                       {"storage", storage.id},
                       {"plugintype", storage.type},
                       {"content", join({storage.content.begin(), storage.content.end()}, ",")},
                       {"shared", storage.shared ? 1 : 0},
                       {"status", "unknown"}};
    auto usage = cluster.statistics.of_storage(host, storage.id);
    if (usage) entry["status"] = "available";
    merge(entry, usage);
    return entry;
}

asio::awaitable<json::value> list_resources(Call& call) {
    auto& cluster = call.cluster;
    const auto& world = cluster.world;
    auto type = call.text("type");
    auto wanted = [&](std::string_view kind) { return type.empty() || type == kind; };
    json::array result;
    if (type.empty()) {
        for (const auto& [id, pool] : world.pools) {
            if (!has_any(world, call.user, "/pool/" + id, {"Pool.Audit"})) continue;
            result.push_back({{"id", "/pool/" + id}, {"pool", id}, {"type", "pool"}});
        }
    }
    if (wanted("vm")) {
        for (const auto& [vmid, machine] : world.machines) {
            if (!cluster.shows_machine(call.node, vmid) ||
                !has_any(world, call.user, "/vms/" + std::to_string(vmid), {"VM.Audit"}))
                continue;
            result.push_back(machine_resource(cluster, machine));
        }
    }
    if (wanted("node")) {
        for (const auto& host : world.hosts) result.push_back(shown_host(call, host));
    }
    if (wanted("storage")) {
        for (const auto& [id, storage] : world.storages) {
            if (!has_any(world, call.user, "/storage/" + id, {"Datastore.Audit"}) || !storage.enabled)
                continue;
            for (const auto& host : world.hosts) {
                if (exists_on(storage, host.name))
                    result.push_back(storage_resource(cluster, storage, host.name));
            }
        }
    }
    co_return result;
}

asio::awaitable<json::value> next_id(Call& call) {
    const auto& world = call.cluster.world;
    if (call.has("vmid")) {
        if (call.cluster.shows_machine(call.node, call.vmid())) {
            throw parameter_error("vmid", "VM " + call.text("vmid") + " already exists");
        }
        co_return json::value(call.text("vmid"));
    }
    std::int64_t lower = 100, upper = 1000000;
    if (auto range = world.options.find("next-id"); range != world.options.end()) {
        lower = to_integer(property_of("next-id", range->second, "lower")).value_or(lower);
        upper = to_integer(property_of("next-id", range->second, "upper")).value_or(upper);
    }
    for (auto id = lower; id < upper; ++id) {
        if (!call.cluster.shows_machine(call.node, static_cast<int>(id)))
            co_return json::value(std::to_string(id));
    }
    throw failure("unable to get any free VMID in range [" + std::to_string(lower) + ", " +
                  std::to_string(upper) + "]");
}

json::array listed(const std::string& tags) {
    const auto list = split_list(tags);
    return json::array(list.begin(), list.end());
}

json::value option_value(const std::string& name, const std::string& value) {
    if (name == "registered-tags") return listed(value);
    if (name != "user-tag-access") return json::value(value);
    json::object access;
    for (const auto& [property, text] : parse_properties(property_group(name), value)) {
        if (property == "user-allow-list") {
            access[property] = listed(text);
        } else {
            access[property] = text;
        }
    }
    return access;
}

asio::awaitable<json::value> get_options(Call& call) {
    const auto& world = call.cluster.world;
    json::object result;
    const auto tags = allowed_tags(world, call.user);
    result["allowed-tags"] = json::array(tags.begin(), tags.end());
    if (!has_any(world, call.user, "/", {"Sys.Audit"})) co_return result;
    result["mac_prefix"] = "BC:24:11";
    result["description"] = "";
    for (const auto& [name, value] : world.options) result[name] = option_value(name, value);
    co_return result;
}

asio::awaitable<json::value> set_options(Call& call) {
    call.cluster.require_quorum();
    for (const auto& name : split_list(call.text("delete"))) call.cluster.world.options.erase(name);
    for (const char* name : {"next-id", "mac_prefix", "description", "registered-tags", "user-tag-access"}) {
        if (call.has(name)) call.cluster.world.options[name] = call.text(name);
    }
    co_return nullptr;
}

asio::awaitable<json::value> list_members(Call& call) {
    json::array result;
    if (call.cluster.world.standalone) co_return result;
    for (const auto& host : call.cluster.world.hosts) {
        result.push_back({{"node", host.name},
                          {"name", host.name},
                          {"nodeid", std::to_string(host.node_id)},
                          {"ring0_addr", host.ip},
                          {"quorum_votes", "1"}});
    }
    co_return result;
}

asio::awaitable<json::value> list_nodes(Call& call) {
    json::array result;
    for (const auto& host : call.cluster.world.hosts) {
        auto entry = shown_host(call, host);
        entry.erase("cgroup-mode");
        entry.erase("hastate");
        entry["ssl_fingerprint"] = host.certificate_fingerprint;
        result.push_back(std::move(entry));
    }
    co_return result;
}

asio::awaitable<json::value> empty_list(Call&) {
    co_return json::array{};
}

}  // namespace

void add_cluster(Routes& routes) {
    routes.add({.method = "GET", .path = "/version", .handler = get_version});
    routes.add(
        {.method = "GET", .path = "/nodes/{node}/version", .handler = get_version, .place = Place::node});
    routes.add({.method = "GET", .path = "/nodes", .handler = list_nodes});
    routes.add({.method = "GET",
                .path = "/cluster/status",
                .handler = cluster_status,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/",
                .privileges = {"Sys.Audit"}});
    routes.add({.method = "GET",
                .path = "/cluster/resources",
                .handler = list_resources,
                .parameters = "type enum=vm|storage|node|sdn"});
    routes.add({.method = "GET", .path = "/cluster/nextid", .handler = next_id, .parameters = "vmid vmid"});
    routes.add({.method = "GET", .path = "/cluster/options", .handler = get_options});
    routes.add({.method = "PUT",
                .path = "/cluster/options",
                .handler = set_options,
                .parameters = R"(
                    next-id props=next-id
                    registered-tags pattern=(?:(?i:[a-z0-9_][a-z0-9_\-\+\.]*);)*(?i:[a-z0-9_][a-z0-9_\-\+\.]*)
                    user-tag-access props=user-tag-access
                    mac_prefix format=mac-prefix
                    description maxlen=65536
                    delete format=pve-configid-list)",
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/",
                .privileges = {"Sys.Modify"}});
    routes.add({.method = "GET",
                .path = "/cluster/config/nodes",
                .handler = list_members,
                .access = Access::privilege,
                .permission_path = "/",
                .privileges = {"Sys.Audit"}});
    const std::string kinds = "type enum=evpn|faucet|qinq|simple|vlan|vxlan\n";
    const std::string states = "pending boolean\nrunning boolean\n";
    routes.add(
        {.method = "GET", .path = "/cluster/sdn/zones", .handler = empty_list, .parameters = kinds + states});
    routes.add({.method = "GET", .path = "/cluster/sdn/vnets", .handler = empty_list, .parameters = states});
}

}  // namespace proxmox_simulator
