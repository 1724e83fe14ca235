// Endpoints to suspend machines in memory or to disk. A token cannot repair a machine whose suspension
// failed, because its lock stays.
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

constexpr std::uint64_t kStateOverhead = 500 * kMiB;

// Returns where Proxmox stores the memory by default: beside a disk, preferably on a shared storage.
std::string state_storage(const World& world, const Machine& machine, const std::string& asked_for) {
    if (!asked_for.empty()) return asked_for;
    if (const auto set = config_text(machine.config, "vmstatestorage"); !set.empty()) return set;
    std::string local;
    for (const auto& [option, drive] : drives(machine.config)) {
        if (drive.is_cdrom || drive.volume == "none") continue;
        const auto storage = parse_volume_id(drive.volume).storage;
        if (find_storage(world, storage).shared) return storage;
        if (local.empty()) local = storage;
    }
    return local.empty() ? "local" : local;
}

std::string day(std::int64_t seconds) {
    const auto days =
        std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds{std::chrono::seconds{seconds}});
    const std::chrono::year_month_day date(days);
    const auto two = [](unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    return std::to_string(static_cast<int>(date.year())) + "-" + two(static_cast<unsigned>(date.month())) +
           "-" + two(static_cast<unsigned>(date.day()));
}

std::string allocate_state(Cluster& cluster, Task& task, const Machine& machine, const std::string& id) {
    auto& storage = usable_storage(cluster.world, id, machine.node);
    Volume volume;
    volume.content = "images";
    volume.format = "raw";
    volume.size = 2 * memory_mib(machine.config) * kMiB + kStateOverhead;
    volume.used = is_file_based(storage) ? 0 : volume.size;
    volume.vmid = machine.vmid;
    volume.created = cluster.wall_seconds();
    volume.name = "vm-" + std::to_string(machine.vmid) + "-state-suspend-" + day(cluster.wall_seconds());
    if (is_file_based(storage)) volume.name = std::to_string(machine.vmid) + "/" + volume.name + ".raw";
    const auto path = volume_path(storage, volume);
    require_space(storage, machine.node, volume.used, {"allocating " + path, task.log});
    return print_volume_id(id, add_volume(storage, machine.node, std::move(volume)));
}

asio::awaitable<void> write_memory(Cluster& cluster, Task& task, std::string node, int vmid,
                                   std::string storage) {
    auto& begun = cluster.machine(node, vmid);
    begun.config["lock"] = "suspending";
    begun.config["vmstate"] = allocate_state(cluster, task, begun, storage);
    co_await task.spend(cluster.world.durations.of_task("qmsuspend"));
    if (cluster.world.qemu_lacks_savevm)
        throw failure("VM " + std::to_string(vmid) +
                      " qmp command 'savevm-start' failed - The command savevm-start has not been found");
}

// Suspends the machine. After any failure the guest runs on, and the lock shows that the suspension failed.
asio::awaitable<void> suspend_worker(Cluster& cluster, Task& task, std::string node, int vmid,
                                     std::string storage) {
    auto lock = co_await lock_machine(cluster, task, vmid);
    const auto held = config_text(cluster.machine(node, vmid).config, "lock");
    if (held == "backup") throw failure("cannot suspend to disk during backup");
    require_unlocked(cluster.machine(node, vmid).config);
    std::string complaint;
    try {
        co_await write_memory(cluster, task, node, vmid, std::move(storage));
    } catch (const ApiError& error) {
        complaint = error.what();
    }
    auto& machine = cluster.machine(node, vmid);
    if (!complaint.empty()) {
        if (const auto state = config_text(machine.config, "vmstate"); !state.empty())
            free_volume(cluster.world, node, state);
        machine.config.erase("vmstate");
        throw failure(complaint);
    }
    machine.config["lock"] = "suspended";
    machine.config["runningmachine"] = "pc-i440fx-10.1+pve0";
    cluster.stop_machine(machine);
}

asio::awaitable<void> pause_worker(Cluster& cluster, Task& task, std::string node, int vmid, bool pauses) {
    auto lock = co_await lock_machine(cluster, task, vmid);
    require_unlocked(cluster.machine(node, vmid).config);
    const auto* type = pauses ? "qmpause" : "qmresume";
    co_await task.spend(cluster.world.durations.of_task(type));
    auto& machine = cluster.machine(node, vmid);
    if (!machine.running) throw failure("VM " + std::to_string(vmid) + " not running");
    machine.running->is_paused = pauses;
}

asio::awaitable<json::value> suspend(Call& call) {
    call.only_root({"skiplock"});
    auto& cluster = call.cluster;
    const auto& machine = call.machine();
    const auto name = call.text("vmid");
    if (!machine.running) throw failure("VM " + name + " not running");
    if (!call.flag("todisk")) {
        auto& task = cluster.create_task(call.node, "qmpause", name, call.user);
        co_return json::value(
            cluster.run_task(task, pause_worker(cluster, task, call.node, call.vmid(), true)));
    }
    if (cluster.world.ha_resources.contains("vm:" + name))
        throw failure("Cannot suspend HA managed VM to disk");
    if (has_passed_through(machine.config))
        throw failure(
            "cannot suspend VM to disk due to passed-through PCI device(s), which lack the possibility to "
            "save/restore their internal state");
    const auto storage = state_storage(cluster.world, machine, call.text("statestorage"));
    call.require("/vms/" + name, "VM.Config.Disk");
    call.require("/storage/" + storage, "Datastore.AllocateSpace");
    auto& task = cluster.create_task(call.node, "qmsuspend", name, call.user);
    co_return json::value(
        cluster.run_task(task, suspend_worker(cluster, task, call.node, call.vmid(), storage)));
}

asio::awaitable<json::value> resume(Call& call) {
    call.only_root({"skiplock"});
    auto& cluster = call.cluster;
    const auto& machine = call.machine();
    const bool is_on_disk = config_text(machine.config, "lock") == "suspended";
    if (!machine.running && !is_on_disk) throw failure("VM " + call.text("vmid") + " not running");
    auto& task = cluster.create_task(call.node, "qmresume", call.text("vmid"), call.user);
    if (is_on_disk)
        co_return json::value(cluster.run_task(task, start_worker(cluster, task, call.node, call.vmid())));
    co_return json::value(cluster.run_task(task, pause_worker(cluster, task, call.node, call.vmid(), false)));
}

}  // namespace

void add_qemu_suspend(Routes& routes) {
    Endpoint endpoint{.method = "POST",
                      .path = "/nodes/{node}/qemu/{vmid}/status/suspend",
                      .handler = suspend,
                      .parameters = R"(
                          skiplock boolean
                          todisk boolean
                          statestorage format=pve-storage-id requires=todisk)"};
    endpoint.place = Place::node;
    endpoint.daemon = true;
    endpoint.access = Access::privilege;
    endpoint.permission_path = "/vms/{vmid}";
    endpoint.privileges = {"VM.PowerMgmt"};
    auto back = endpoint;
    back.path = "/nodes/{node}/qemu/{vmid}/status/resume";
    back.handler = resume;
    back.parameters = "skiplock boolean\nnocheck boolean";
    routes.add(std::move(endpoint));
    routes.add(std::move(back));
}

}  // namespace proxmox_simulator
