// Endpoints to switch machines on and off. Workers do all of it; the answer only says that a worker was
// started.
#include <algorithm>

#include "test/simulators/proxmox/core/cloudinit.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

constexpr Duration kAgentTimeout = std::chrono::seconds{3};
constexpr Duration kRestartDelay = std::chrono::seconds{1};
constexpr std::int64_t kShutdownTimeout = 60;

Config with_waiting(const Machine& machine) {
    auto config = machine.config;
    for (const auto& [option, value] : machine.pending) config[option] = value;
    return config;
}

// Drops the saved memory of a machine that was suspended to disk.
void forget_state(Cluster& cluster, Machine& machine) {
    free_volume(cluster.world, machine.node, config_text(machine.config, "vmstate"));
    for (const char* option : {"lock", "vmstate", "runningmachine"}) machine.config.erase(option);
}

// Checks what only shows when QEMU is about to start.
void require_startable(Cluster& cluster, const Machine& machine) {
    const auto& host = cluster.host(machine.node);
    const auto config = with_waiting(machine);
    devices_to_take(cluster, machine, config);
    if (vcpus(config) > host.cpus) {
        throw failure("MAX " + std::to_string(host.cpus) + " vcpus allowed per VM on this node");
    }
    for (const auto& [option, value] : config) {
        if (!is_network_interface(option)) continue;
        auto bridge = property_of("net", value, "bridge");
        bool known =
            bridge.empty() || std::any_of(host.bridges.begin(), host.bridges.end(),
                                          [&](const auto& candidate) { return candidate.name == bridge; });
        if (!known) throw failure("bridge '" + bridge + "' does not exist");
    }
    for (const auto& [option, drive] : drives(config)) {
        if (drive.volume == "none" || drive.volume == "cdrom") continue;
        usable_storage(cluster.world, parse_volume_id(drive.volume).storage, machine.node);
        if (!find_volume(cluster.world, machine.node, drive.volume)) {
            throw failure("volume '" + drive.volume + "' does not exist");
        }
    }
    require_snippets(cluster, machine);
}

Machine& machine_of_worker(Cluster& cluster, const std::string& node, int vmid) {
    if (auto* machine = cluster.find_machine(node, vmid)) return *machine;
    throw failure("unable to find configuration file for VM " + std::to_string(vmid) + " on node '" + node +
                  "'");
}

asio::awaitable<void> stop_worker(Cluster& cluster, Task& task, std::string node, int vmid, bool overrule) {
    if (overrule) {
        std::vector<Task*> shutdowns;
        for (const auto& other : cluster.tasks.all()) {
            if (other->is_running() && other->type == "qmshutdown" && other->id == std::to_string(vmid))
                shutdowns.push_back(other.get());
        }
        std::vector<std::string> overruled;
        for (auto* shutdown : shutdowns) {
            overruled.push_back(shutdown->upid);
            co_await cluster.tasks.stop(*shutdown);
        }
        if (!overruled.empty()) task.log.push_back("overruled qmshutdown tasks: " + join(overruled, ", "));
    }
    auto lock = co_await lock_machine(cluster, task, vmid);
    if (!machine_of_worker(cluster, node, vmid).running) co_return;
    require_unlocked(cluster.machine(node, vmid).config);
    co_await task.spend(cluster.world.durations.of_task("qmstop"));
    cluster.stop_machine(cluster.machine(node, vmid));
}

struct Shutdown {
    std::string node;
    int vmid = 0;
    std::int64_t timeout = kShutdownTimeout;
    bool force = false;
};

// Asks the guest to end. The caller must hold the lock. Throws if the guest does not end within the timeout.
asio::awaitable<void> shut_guest_down(Cluster& cluster, Task& task, Shutdown order) {
    const auto& machine = cluster.machine(order.node, order.vmid);
    const auto name = std::to_string(order.vmid);
    const bool silent = machine.guest.agent_silent;
    if (has_agent(machine.running->config) && silent) {
        co_await task.spend(kAgentTimeout);
        task.log.push_back("QEMU Guest Agent is not running - VM " + name +
                           " qga command 'guest-ping' failed - got timeout");
    }
    const Duration limit = std::chrono::seconds{order.timeout};
    const auto needed = cluster.world.durations.guest_shutdown;
    if (!silent && needed <= limit) {
        co_await task.spend(needed);
        cluster.stop_machine(cluster.machine(order.node, order.vmid));
        co_return;
    }
    co_await task.spend(limit);
    if (!order.force) throw failure("VM quit/powerdown failed - got timeout");
    task.log.push_back("VM still running - terminating now with SIGTERM");
    co_await task.spend(cluster.world.durations.of_task("qmstop"));
    cluster.stop_machine(cluster.machine(order.node, order.vmid));
}

// Holds the lock until the guest is off, so no other request can change the machine meanwhile.
asio::awaitable<void> shutdown_worker(Cluster& cluster, Task& task, Shutdown order) {
    auto lock = co_await lock_machine(cluster, task, order.vmid);
    if (!machine_of_worker(cluster, order.node, order.vmid).running) co_return;
    require_unlocked(cluster.machine(order.node, order.vmid).config);
    co_await shut_guest_down(cluster, task, std::move(order));
}

asio::awaitable<void> restart_later(Cluster& cluster, std::string node, int vmid) {
    co_await cluster.clock.sleep_for(kRestartDelay);
    auto* machine = cluster.find_machine(node, vmid);
    if (machine && cluster.host(node).powered_on) cluster.start_machine(*machine);
}

asio::awaitable<void> reboot_worker(Cluster& cluster, Task& task, Shutdown order) {
    auto lock = co_await lock_machine(cluster, task, order.vmid);
    if (!machine_of_worker(cluster, order.node, order.vmid).running) co_return;
    auto node = order.node;
    auto vmid = order.vmid;
    co_await shut_guest_down(cluster, task, std::move(order));
    cluster.background.spawn(restart_later(cluster, std::move(node), vmid));
}

asio::awaitable<void> reset_worker(Cluster& cluster, Task& task, std::string node, int vmid) {
    auto lock = co_await lock_machine(cluster, task, vmid);
    co_await task.spend(cluster.world.durations.of_task("qmreset"));
    auto& machine = machine_of_worker(cluster, node, vmid);
    if (!machine.running) co_return;
    machine.running->guest_since = cluster.clock.now();
    if (!cluster.hooks) co_return;
    cluster.hooks->on_machine_stopped(cluster.view(machine));
    cluster.hooks->on_machine_started(cluster.view(machine));
}

// Records only the wanted state of a machine under high availability. The manager acts on it later.
asio::awaitable<void> request_ha_state(Cluster& cluster, Task& task, std::string sid, std::string state,
                                       std::string node, int vmid) {
    task.log.push_back("Requesting HA " + std::string(state == "started" ? "start" : "stop") + " for VM " +
                       std::to_string(vmid));
    cluster.world.ha_resources[sid] = state;
    co_await task.spend(cluster.world.durations.of_task("hastart"));
    auto name = std::to_string(vmid);
    auto& follow = cluster.create_task(node, state == "started" ? "qmstart" : "qmstop", name, "root@pam");
    if (state == "started")
        cluster.run_task(follow, start_worker(cluster, follow, node, vmid));
    else
        cluster.run_task(follow, stop_worker(cluster, follow, node, vmid, false));
}

std::optional<std::string> hand_to_ha(Call& call, const std::string& state) {
    auto sid = "vm:" + call.text("vmid");
    if (!call.cluster.world.ha_resources.contains(sid)) return std::nullopt;
    auto& task = call.cluster.create_task(call.node, state == "started" ? "hastart" : "hastop",
                                          call.text("vmid"), call.user);
    return call.cluster.run_task(task,
                                 request_ha_state(call.cluster, task, sid, state, call.node, call.vmid()));
}

asio::awaitable<json::value> start(Call& call) {
    call.only_root({"skiplock"});
    for (const char* name :
         {"stateuri", "migratedfrom", "migration_type", "migration_network", "targetstorage", "force-cpu"}) {
        if (call.has(name) && !call.is_root()) throw parameter_error(name, "Only root may use this option.");
    }
    call.cluster.require_quorum();
    if (auto upid = hand_to_ha(call, "started")) co_return json::value(*upid);
    auto& task = call.cluster.create_task(call.node, "qmstart", call.text("vmid"), call.user);
    co_return json::value(
        call.cluster.run_task(task, start_worker(call.cluster, task, call.node, call.vmid())));
}

asio::awaitable<json::value> stop(Call& call) {
    call.only_root({"skiplock", "keepActive"});
    if (call.has("migratedfrom") && !call.is_root())
        throw parameter_error("migratedfrom", "Only root may use this option.");
    if (auto upid = hand_to_ha(call, "stopped")) co_return json::value(*upid);
    auto& task = call.cluster.create_task(call.node, "qmstop", call.text("vmid"), call.user);
    co_return json::value(call.cluster.run_task(
        task, stop_worker(call.cluster, task, call.node, call.vmid(), call.flag("overrule-shutdown"))));
}

asio::awaitable<json::value> shutdown(Call& call) {
    call.only_root({"skiplock", "keepActive"});
    if (auto upid = hand_to_ha(call, "stopped")) co_return json::value(*upid);
    Shutdown order{call.node, call.vmid(), call.integer("timeout", kShutdownTimeout), call.flag("forceStop")};
    auto& task = call.cluster.create_task(call.node, "qmshutdown", call.text("vmid"), call.user);
    co_return json::value(call.cluster.run_task(task, shutdown_worker(call.cluster, task, std::move(order))));
}

void require_running(Call& call) {
    if (!machine_of_worker(call.cluster, call.node, call.vmid()).running) {
        throw failure("VM " + call.text("vmid") + " not running");
    }
}

asio::awaitable<json::value> reboot(Call& call) {
    require_running(call);
    Shutdown order{call.node, call.vmid(), call.integer("timeout", kShutdownTimeout), false};
    auto& task = call.cluster.create_task(call.node, "qmreboot", call.text("vmid"), call.user);
    co_return json::value(call.cluster.run_task(task, reboot_worker(call.cluster, task, std::move(order))));
}

asio::awaitable<json::value> reset(Call& call) {
    call.only_root({"skiplock"});
    require_running(call);
    auto& task = call.cluster.create_task(call.node, "qmreset", call.text("vmid"), call.user);
    co_return json::value(
        call.cluster.run_task(task, reset_worker(call.cluster, task, call.node, call.vmid())));
}

}  // namespace

asio::awaitable<FileLocks::Held> lock_machine(Cluster& cluster, Task& task, int vmid) {
    auto name = machine_lock(vmid);
    if (!cluster.locks.is_free(name, LockMode::exclusive)) task.log.push_back("trying to acquire lock...");
    auto lock = co_await cluster.locks.acquire(std::move(name), LockMode::exclusive, kLockTimeout,
                                               [&task] { task.check(); });
    co_return lock;
}

asio::awaitable<void> start_worker(Cluster& cluster, Task& task, std::string node, int vmid) {
    auto lock = co_await lock_machine(cluster, task, vmid);
    const auto& config = cluster.machine(node, vmid).config;
    if (config_flag(config, "template")) throw failure("you can't start a vm if it's a template");
    const bool is_on_disk = config_text(config, "lock") == "suspended";
    if (!is_on_disk) require_unlocked(config);
    if (cluster.machine(node, vmid).running) throw failure("VM " + std::to_string(vmid) + " already running");
    require_startable(cluster, cluster.machine(node, vmid));
    if (is_on_disk) task.log.push_back("Resuming suspended VM");
    if (has_cloudinit_drive(config)) task.log.push_back("generating cloud-init ISO");
    co_await task.spend(cluster.world.durations.of_task("qmstart"));
    auto& machine = cluster.machine(node, vmid);
    auto devices = devices_to_take(cluster, machine, with_waiting(machine));
    if (is_on_disk) forget_state(cluster, machine);
    cluster.start_machine(machine);
    machine.running->devices = std::move(devices);
}

void add_qemu_power(Routes& routes) {
    struct Action {
        const char* name;
        Handler handler;
        const char* parameters;
    };
    for (const auto& action : {
             Action{"start", start, R"(
                 skiplock boolean
                 timeout integer min=0
                 force-cpu string
                 machine props=machine
                 migratedfrom format=pve-node
                 migration_network format=CIDR
                 migration_type enum=secure|insecure
                 nets-host-mtu pattern=net\d+=\d+(,net\d+=\d+)*
                 stateuri maxlen=128
                 targetstorage format=storage-pair-list
                 with-conntrack-state boolean)"},
             Action{"stop", stop, R"(
                 skiplock boolean
                 timeout integer min=0
                 keepActive boolean
                 migratedfrom format=pve-node
                 overrule-shutdown boolean)"},
             Action{"shutdown", shutdown, R"(
                 skiplock boolean
                 timeout integer min=0
                 forceStop boolean
                 keepActive boolean)"},
             Action{"reboot", reboot, "timeout integer min=0"},
             Action{"reset", reset, "skiplock boolean"},
         }) {
        routes.add({.method = "POST",
                    .path = std::string("/nodes/{node}/qemu/{vmid}/status/") + action.name,
                    .handler = action.handler,
                    .parameters = action.parameters,
                    .place = Place::node,
                    .daemon = true,
                    .access = Access::privilege,
                    .permission_path = "/vms/{vmid}",
                    .privileges = {"VM.PowerMgmt"}});
    }
}

}  // namespace proxmox_simulator
