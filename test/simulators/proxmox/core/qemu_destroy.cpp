// DELETE /nodes/{node}/qemu/{vmid}.
#include <algorithm>

#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

struct Destruction {
    std::string node;
    int vmid = 0;
    bool purge = false;
    bool unreferenced = false;
    bool skip_lock = false;
};

void require_unprotected(const Machine& machine) {
    if (config_flag(machine.config, "protection"))
        throw failure("can't remove VM " + std::to_string(machine.vmid) + " - protection mode enabled");
}

void require_off(const Machine& machine) {
    if (machine.running) throw failure("VM " + std::to_string(machine.vmid) + " is running - destroy failed");
}

// Adds the volumes that the options name. It leaves out disks that are attached as a CD-ROM, except drives of
// cloud-init.
void add_named(Cluster& cluster, const Machine& machine, const Config& config,
               std::vector<std::string>& volumes) {
    for (const auto& [option, value] : config) {
        const bool is_plain = option.starts_with("unused") || option == "vmstate";
        if (!is_plain && !drives({{option, value}}).contains(option)) continue;
        const auto drive = is_plain ? Drive{value, false, {}} : parse_drive(option, value);
        if (drive.is_cdrom && !is_cloudinit_volume(drive.volume)) continue;
        const auto* known = find_volume(std::as_const(cluster.world), machine.node, drive.volume);
        const bool is_new = std::find(volumes.begin(), volumes.end(), drive.volume) == volumes.end();
        if (known && known->vmid == machine.vmid && is_new) volumes.push_back(drive.volume);
    }
}

std::vector<std::string> volumes_to_free(Cluster& cluster, const Machine& machine, const Destruction& order) {
    std::vector<std::string> volumes;
    add_named(cluster, machine, machine.config, volumes);
    add_named(cluster, machine, machine.pending, volumes);
    if (!order.unreferenced) return volumes;
    for (auto& volume : owned_volumes(cluster.world, machine.node, machine.vmid)) {
        if (std::find(volumes.begin(), volumes.end(), volume) == volumes.end())
            volumes.push_back(std::move(volume));
    }
    return volumes;
}

void forget(Cluster& cluster, const Destruction& order) {
    auto name = std::to_string(order.vmid);
    for (auto& [id, pool] : cluster.world.pools) pool.vms.erase(order.vmid);
    std::erase_if(cluster.world.acl, [&](const auto& entry) { return entry.path == "/vms/" + name; });
    if (order.purge) cluster.world.ha_resources.erase("vm:" + name);
}

asio::awaitable<void> destroy_worker(Cluster& cluster, Task& task, Destruction order) {
    auto lock = co_await lock_machine(cluster, task, order.vmid);
    require_unprotected(cluster.machine(order.node, order.vmid));
    require_off(cluster.machine(order.node, order.vmid));
    const auto& doomed = cluster.machine(order.node, order.vmid).config;
    if (!order.skip_lock && config_text(doomed, "lock") != "suspended") require_unlocked(doomed);
    auto volumes = volumes_to_free(cluster, cluster.machine(order.node, order.vmid), order);
    for (const auto& volume : volumes) require_no_clones(cluster.world, order.node, volume);
    auto last = cluster.view(cluster.machine(order.node, order.vmid));
    for (const auto& volume : volumes) {
        const auto& storage = find_storage(std::as_const(cluster.world), parse_volume_id(volume).storage);
        if (storage.active) {
            free_volume(cluster.world, order.node, volume);
            continue;
        }
        // The machine is destroyed, but this volume is left behind.
        task.log.push_back("Could not remove disk '" + volume + "', check manually: storage '" + storage.id +
                           "' is not online");
        ++task.warnings;
    }
    cluster.require_writable(order.node, order.vmid);
    cluster.machine(order.node, order.vmid).config = {{"lock", "destroyed"}};
    co_await task.spend(cluster.world.durations.of_task("qmdestroy"));
    if (order.purge)
        task.log.push_back("purging VM " + std::to_string(order.vmid) + " from related configurations..");
    forget(cluster, order);
    cluster.world.machines.erase(order.vmid);
    if (cluster.hooks) cluster.hooks->on_machine_destroyed(last);
}

asio::awaitable<json::value> destroy(Call& call) {
    call.only_root({"skiplock"});
    const auto& machine = call.machine();
    auto name = call.text("vmid");
    require_unprotected(machine);
    if (call.cluster.world.ha_resources.contains("vm:" + name) && !call.flag("purge")) {
        throw failure("unable to remove VM " + name + " - used in HA resources and purge parameter not set.");
    }
    require_off(machine);
    call.cluster.require_quorum();
    Destruction order{call.node, call.vmid(), call.flag("purge"), call.flag("destroy-unreferenced-disks"),
                      call.flag("skiplock")};
    auto& task = call.cluster.create_task(call.node, "qmdestroy", name, call.user);
    co_return json::value(call.cluster.run_task(task, destroy_worker(call.cluster, task, std::move(order))));
}

}  // namespace

void add_qemu_destroy(Routes& routes) {
    routes.add({.method = "DELETE",
                .path = "/nodes/{node}/qemu/{vmid}",
                .handler = destroy,
                .parameters = "skiplock boolean\npurge boolean\ndestroy-unreferenced-disks boolean",
                .place = Place::node,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/vms/{vmid}",
                .privileges = {"VM.Allocate"}});
}

}  // namespace proxmox_simulator
