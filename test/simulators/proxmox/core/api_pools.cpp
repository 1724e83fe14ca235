// Endpoints for resource pools.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/machine_status.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

Pool& find_pool(World& world, const std::string& id) {
    auto pool = world.pools.find(id);
    if (pool == world.pools.end()) throw failure("pool '" + id + "' does not exist");
    return pool->second;
}

json::array members(Call& call, const Pool& pool, const std::string& type) {
    json::array result;
    const auto& world = call.cluster.world;
    if (type.empty() || type == "qemu") {
        for (int vmid : pool.vms) {
            auto machine = world.machines.find(vmid);
            if (machine == world.machines.end()) continue;
            auto entry = machine_usage(call.cluster, machine->second);
            entry["id"] = "qemu/" + std::to_string(vmid);
            entry["type"] = "qemu";
            entry["vmid"] = vmid;
            entry["node"] = machine->second.node;
            result.push_back(std::move(entry));
        }
    }
    if (type.empty() || type == "storage") {
        for (const auto& id : pool.storages) {
            result.push_back({{"id", "storage/" + call.node + "/" + id},
                              {"type", "storage"},
                              {"storage", id},
                              {"node", call.node}});
        }
    }
    return result;
}

json::object describe(const Pool& pool) {
    json::object result{{"poolid", pool.id}};
    if (!pool.comment.empty()) result["comment"] = pool.comment;
    return result;
}

asio::awaitable<json::value> list_pools(Call& call) {
    json::array result;
    auto& world = call.cluster.world;
    if (call.has("poolid")) {
        auto id = call.text("poolid");
        call.require("/pool/" + id, "Pool.Audit");
        auto& pool = find_pool(world, id);
        auto entry = describe(pool);
        entry["members"] = members(call, pool, call.text("type"));
        result.push_back(std::move(entry));
        co_return result;
    }
    for (const auto& [id, pool] : world.pools) {
        if (has_any(world, call.user, "/pool/" + id, {"Pool.Audit"})) result.push_back(describe(pool));
    }
    co_return result;
}

asio::awaitable<json::value> get_pool(Call& call) {
    auto& pool = find_pool(call.cluster.world, call.text("poolid"));
    json::object result{{"poolid", pool.id}, {"members", members(call, pool, call.text("type"))}};
    if (!pool.comment.empty()) result["comment"] = pool.comment;
    co_return result;
}

asio::awaitable<json::value> create_pool(Call& call) {
    co_await call.cluster.lock_user_config("create pool failed");
    auto id = call.text("poolid");
    auto& pools = call.cluster.world.pools;
    if (pools.contains(id)) throw failure("create pool failed: pool '" + id + "' already exists");
    pools[id] = {id, call.text("comment"), {}, {}};
    co_return nullptr;
}

void change_machine(Call& call, Pool& pool, int vmid) {
    auto& world = call.cluster.world;
    auto name = std::to_string(vmid);
    call.require("/vms/" + name, "VM.Allocate");
    if (call.flag("delete")) {
        if (pool.vms.erase(vmid) == 0)
            throw failure("update pools failed: VM " + name + " is not a pool member");
        return;
    }
    if (pool.vms.contains(vmid))
        throw failure("update pools failed: VM " + name + " is already a pool member");
    if (!world.machines.contains(vmid)) throw failure("update pools failed: VM " + name + " does not exist");
    for (auto& [id, other] : world.pools) {
        if (!other.vms.contains(vmid)) continue;
        if (!call.flag("allow-move")) {
            throw failure("update pools failed: VM " + name + " belongs already to pool '" + id +
                          "' and allow-move is not set");
        }
        other.vms.erase(vmid);
    }
    pool.vms.insert(vmid);
}

asio::awaitable<json::value> update_pool(Call& call) {
    co_await call.cluster.lock_user_config("update pools failed");
    auto& world = call.cluster.world;
    auto id = call.text("poolid");
    if (!world.pools.contains(id)) throw failure("update pools failed: pool '" + id + "' does not exist");
    auto& pool = world.pools.at(id);
    if (call.has("comment")) pool.comment = call.text("comment");
    for (const auto& vmid : split_list(call.text("vms"))) {
        change_machine(call, pool, static_cast<int>(to_integer(vmid).value_or(0)));
    }
    for (const auto& storage : split_list(call.text("storage"))) {
        call.require("/storage/" + storage, "Datastore.Allocate");
        find_storage(world, storage);
        if (call.flag("delete"))
            pool.storages.erase(storage);
        else
            pool.storages.insert(storage);
    }
    co_return nullptr;
}

asio::awaitable<json::value> delete_pool(Call& call) {
    co_await call.cluster.lock_user_config("delete pool failed");
    auto id = call.text("poolid");
    auto& pools = call.cluster.world.pools;
    auto pool = pools.find(id);
    if (pool == pools.end()) throw failure("delete pool failed: pool '" + id + "' does not exist");
    if (!pool->second.vms.empty() || !pool->second.storages.empty()) {
        throw failure("delete pool failed: pool '" + id + "' is not empty");
    }
    pools.erase(pool);
    co_return nullptr;
}

Endpoint changing(std::string method, Handler handler, std::string parameters) {
    Endpoint endpoint{.method = std::move(method), .path = "/pools", .handler = handler};
    endpoint.parameters = "poolid! format=pve-poolid\n" + parameters;
    endpoint.daemon = true;
    endpoint.access = Access::privilege;
    endpoint.permission_path = "/pool/{poolid}";
    endpoint.privileges = {"Pool.Allocate"};
    return endpoint;
}

}  // namespace

void add_pools(Routes& routes) {
    routes.add({.method = "GET",
                .path = "/pools",
                .handler = list_pools,
                .parameters = "poolid format=pve-poolid\ntype enum=qemu|lxc|storage requires=poolid"});
    routes.add({.method = "GET",
                .path = "/pools/{poolid}",
                .handler = get_pool,
                .parameters = "type enum=qemu|lxc|storage",
                .access = Access::privilege,
                .permission_path = "/pool/{poolid}",
                .privileges = {"Pool.Audit"}});
    routes.add(changing("POST", create_pool, "comment string"));
    auto update = changing("PUT", update_pool, R"(
        comment string
        vms format=pve-vmid-list
        storage format=pve-storage-id-list
        delete boolean
        allow-move boolean)");
    auto remove = changing("DELETE", delete_pool, "");
    // In the older form of these endpoints the pool is part of the path.
    for (auto endpoint : {update, remove}) {
        endpoint.path = "/pools/{poolid}";
        routes.add(std::move(endpoint));
    }
    routes.add(std::move(update));
    routes.add(std::move(remove));
}

}  // namespace proxmox_simulator
