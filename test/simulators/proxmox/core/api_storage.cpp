// Endpoints for storages: their definitions and how full they are.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

const std::vector<std::string_view> kSeeing{"Datastore.Audit", "Datastore.AllocateSpace"};

std::string content_of(const Storage& storage) {
    return join({storage.content.begin(), storage.content.end()}, ",");
}

asio::awaitable<json::value> list_definitions(Call& call) {
    json::array result;
    for (const auto& [id, storage] : call.cluster.world.storages) {
        if (!has_any(call.cluster.world, call.user, "/storage/" + id, kSeeing)) continue;
        if (call.has("type") && storage.type != call.text("type")) continue;
        json::object entry{{"storage", id}, {"type", storage.type}, {"content", content_of(storage)}};
        entry["digest"] = sha1_hex(id);
        if (is_file_based(storage)) entry["path"] = storage.path;
        if (storage.shared) entry["shared"] = 1;
        if (!storage.enabled) entry["disable"] = 1;
        if (!storage.hosts.empty()) entry["nodes"] = join({storage.hosts.begin(), storage.hosts.end()}, ",");
        result.push_back(std::move(entry));
    }
    co_return result;
}

json::object usage(const Storage& storage, const std::string& host) {
    bool active = storage.enabled && storage.active;
    auto used = active ? used_space(storage, host) : 0;
    auto total = active ? storage.total : 0;
    return {{"type", storage.type},
            {"content", content_of(storage)},
            {"enabled", storage.enabled ? 1 : 0},
            {"active", active ? 1 : 0},
            {"shared", storage.shared ? 1 : 0},
            {"total", total},
            {"used", used},
            {"avail", total - used}};
}

bool offers(const Storage& storage, const std::vector<std::string>& wanted) {
    for (const auto& content : wanted) {
        if (storage.content.contains(content)) return true;
    }
    return wanted.empty();
}

asio::awaitable<json::value> list_on_node(Call& call) {
    auto wanted = split_list(call.text("content"));
    json::array result;
    for (const auto& [id, storage] : call.cluster.world.storages) {
        if (!has_any(call.cluster.world, call.user, "/storage/" + id, kSeeing)) continue;
        if (!exists_on(storage, call.node) || !offers(storage, wanted)) continue;
        if (call.has("storage") && id != call.text("storage")) continue;
        if (call.flag("enabled") && !storage.enabled) continue;
        if (call.has("target") && !storage.shared && call.text("target") != call.node) continue;
        auto entry = usage(storage, call.node);
        entry["storage"] = id;
        if (auto total = entry["total"].to_number<double>(); total > 0) {
            entry["used_fraction"] = entry["used"].to_number<double>() / total;
        }
        result.push_back(std::move(entry));
    }
    co_return result;
}

asio::awaitable<json::value> storage_status(Call& call) {
    auto id = call.text("storage");
    auto storage = call.cluster.world.storages.find(id);
    if (storage == call.cluster.world.storages.end() || !exists_on(storage->second, call.node)) {
        throw parameter_error("storage", "No such storage.");
    }
    co_return usage(storage->second, call.node);
}

}  // namespace

void add_storage(Routes& routes) {
    routes.add(
        {.method = "GET",
         .path = "/storage",
         .handler = list_definitions,
         .parameters =
             "type enum=btrfs|cephfs|cifs|dir|esxi|iscsi|iscsidirect|lvm|lvmthin|nfs|pbs|rbd|zfs|zfspool"});
    routes.add({.method = "GET",
                .path = "/nodes/{node}/storage",
                .handler = list_on_node,
                .parameters = R"(
                    content format=pve-storage-content-list
                    enabled boolean
                    format boolean
                    storage format=pve-storage-id
                    target format=pve-node)",
                .place = Place::node,
                .daemon = true});
    routes.add({.method = "GET",
                .path = "/nodes/{node}/storage/{storage}/status",
                .handler = storage_status,
                .place = Place::node,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/storage/{storage}",
                .privileges = kSeeing});
}

}  // namespace proxmox_simulator
