// Endpoints to list machines and to show the live status of one.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/machine_status.hpp"
#include "test/simulators/proxmox/core/router.hpp"

namespace proxmox_simulator {
namespace {

asio::awaitable<json::value> list_machines(Call& call) {
    json::array result;
    for (const auto& [vmid, machine] : call.cluster.world.machines) {
        if (machine.node != call.node) continue;
        if (!has_any(call.cluster.world, call.user, "/vms/" + std::to_string(vmid), {"VM.Audit"})) continue;
        auto entry = machine_summary(call.cluster, machine);
        if (call.flag("full")) entry["qmpstatus"] = machine.running ? "running" : "stopped";
        result.push_back(std::move(entry));
    }
    co_return result;
}

asio::awaitable<json::value> current_status(Call& call) {
    co_return machine_status(call.cluster, call.machine());
}

asio::awaitable<json::value> list_snapshots(Call& call) {
    call.machine();
    json::array result;
    result.push_back({{"name", "current"}, {"description", "You are here!"}});
    co_return result;
}

}  // namespace

void add_qemu_status(Routes& routes) {
    routes.add({.method = "GET",
                .path = "/nodes/{node}/qemu",
                .handler = list_machines,
                .parameters = "full boolean",
                .place = Place::node,
                .daemon = true});
    for (auto [path, handler] :
         {std::pair<const char*, Handler>{"status/current", current_status}, {"snapshot", list_snapshots}}) {
        routes.add({.method = "GET",
                    .path = std::string("/nodes/{node}/qemu/{vmid}/") + path,
                    .handler = handler,
                    .place = Place::node,
                    .daemon = true,
                    .access = Access::privilege,
                    .permission_path = "/vms/{vmid}",
                    .privileges = {"VM.Audit"}});
    }
}

}  // namespace proxmox_simulator
