// Endpoints to move a machine to another host.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/property_string.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

struct Move {
    std::string node, target;
    int vmid = 0;
    bool local_disks = false;
};

// Returns the volumes that exist only on the present host.
std::vector<std::pair<std::string, Drive>> local_volumes(const Cluster& cluster, const Machine& machine) {
    std::vector<std::pair<std::string, Drive>> result;
    for (const auto& [option, drive] : drives(machine.config)) {
        if (drive.volume == "none" || drive.volume == "cdrom") continue;
        if (!find_storage(cluster.world, parse_volume_id(drive.volume).storage).shared)
            result.emplace_back(option, drive);
    }
    return result;
}

void move_volume(Cluster& cluster, const std::string& id, const Move& order) {
    auto name = parse_volume_id(id);
    auto& storage = usable_storage(cluster.world, name.storage, order.target);
    auto volume = volumes_on(storage, order.node).extract(name.name);
    if (!volume.empty()) volumes_on(storage, order.target).insert(std::move(volume));
}

asio::awaitable<void> migrate_worker(Cluster& cluster, Task& task, Move order) {
    auto lock = co_await lock_machine(cluster, task, order.vmid);
    require_unlocked(cluster.machine(order.node, order.vmid).config);
    if (!cluster.host(order.target).powered_on) {
        task.log.push_back("ERROR: migration aborted: Can't connect to destination address using public key");
        throw failure("migration aborted");
    }
    auto volumes = local_volumes(cluster, cluster.machine(order.node, order.vmid));
    bool running = cluster.machine(order.node, order.vmid).running.has_value();
    if (running && !volumes.empty() && !order.local_disks) {
        task.log.push_back("ERROR: can't migrate local disk '" + volumes.front().second.volume + "'");
        throw failure(
            "Problem found while scanning volumes - can't live migrate attached local disks without "
            "with-local-disks option");
    }
    const auto lacking =
        unmapped_options(cluster.world, cluster.machine(order.node, order.vmid).config, order.target);
    if (!lacking.empty()) {
        task.log.push_back("ERROR: migration aborted (duration 00:00:00): can't migrate to '" + order.target +
                           "': missing mapped devices " + join(lacking, ", "));
        throw failure("migration aborted");
    }
    cluster.machine(order.node, order.vmid).config["lock"] = "migrate";
    co_await task.spend(cluster.world.durations.of_task("qmigrate"));
    for (const auto& [option, drive] : volumes) move_volume(cluster, drive.volume, order);
    auto& machine = cluster.machine(order.node, order.vmid);
    machine.config.erase("lock");
    machine.node = order.target;
}

asio::awaitable<json::value> migrate(Call& call) {
    auto& cluster = call.cluster;
    Move order{call.node, call.text("target"), call.vmid(), call.flag("with-local-disks")};
    cluster.require_quorum();
    if (order.target == call.node) throw parameter_error("target", "target is local node.");
    cluster.host(order.target);
    if (call.flag("force") && !call.is_root())
        throw parameter_error("force", "Only root may use this option.");
    const auto& machine = call.machine();
    require_unlocked(machine.config);
    if (machine.running && !call.flag("online")) throw failure("can't migrate running VM without --online");
    auto& task = cluster.create_task(call.node, "qmigrate", call.text("vmid"), call.user);
    co_return json::value(cluster.run_task(task, migrate_worker(cluster, task, std::move(order))));
}

asio::awaitable<json::value> preconditions(Call& call) {
    const auto& machine = call.machine();
    require_unlocked(machine.config);
    json::array disks, allowed, mapped;
    json::object mappings;
    for (const auto& [option, value] : machine.config) {
        if (!is_passed_through(option)) continue;
        mapped.push_back(json::value(option));
        mappings[option] = {{"name", property_of("hostpci", value, "mapping")}};
    }
    for (const auto& [option, drive] : local_volumes(call.cluster, machine)) {
        const auto* volume = find_volume(std::as_const(call.cluster.world), call.node, drive.volume);
        disks.push_back({{"volid", drive.volume},
                         {"size", volume ? volume->size : 0},
                         {"cdrom", drive.is_cdrom ? 1 : 0},
                         {"is_unused", 0}});
    }
    json::object refused;
    for (const auto& host : call.cluster.world.hosts) {
        if (host.name == call.node || !call.cluster.seems_online(host)) continue;
        const auto lacking = unmapped_options(call.cluster.world, machine.config, host.name);
        json::object reasons;
        if (lacking.empty())
            allowed.push_back(json::value(host.name));
        else
            reasons["unavailable-resources"] = json::array(lacking.begin(), lacking.end());
        refused[host.name] = std::move(reasons);
    }
    json::object result{{"running", machine.running ? 1 : 0},
                        {"allowed_nodes", std::move(allowed)},
                        {"not_allowed_nodes", std::move(refused)},
                        {"local_disks", std::move(disks)},
                        {"local_resources", json::array{}},
                        {"mapped-resources", std::move(mapped)},
                        {"mapped-resource-info", std::move(mappings)},
                        {"has-dbus-vmstate", 1}};
    co_return result;
}

}  // namespace

void add_qemu_migrate(Routes& routes) {
    Endpoint query{.method = "GET", .path = "/nodes/{node}/qemu/{vmid}/migrate", .handler = preconditions};
    query.parameters = "target format=pve-node";
    query.place = Place::node;
    query.daemon = true;
    query.access = Access::privilege;
    query.permission_path = "/vms/{vmid}";
    query.privileges = {"VM.Migrate"};
    auto move = query;
    move.method = "POST";
    move.handler = migrate;
    move.parameters = R"(
        target! format=pve-node
        online boolean
        force boolean
        bwlimit integer min=0
        migration_network format=CIDR
        migration_type enum=secure|insecure
        targetstorage format=storage-pair-list
        with-conntrack-state boolean
        with-local-disks boolean)";
    routes.add(std::move(query));
    routes.add(std::move(move));
}

}  // namespace proxmox_simulator
