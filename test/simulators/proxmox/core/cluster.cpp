#include "test/simulators/proxmox/core/cluster.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "test/simulators/proxmox/core/cloudinit.hpp"
#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/guest_answers.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/property_string.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

// Time until corosync notices that a host is gone (measured on three nodes).
constexpr Duration kFailureDetection = std::chrono::milliseconds{7600};

}  // namespace

std::string made_up_fingerprint(const std::string& text) {
    std::string fingerprint;
    for (const auto byte : base::sha256(text)) fingerprint += (fingerprint.empty() ? "" : ":") + hex(byte, 2);
    return fingerprint;
}

Cluster::Cluster(asio::any_io_executor ex, base::Clock& clk, base::Random& rnd, World initial)
    : executor(ex),
      clock(clk),
      random(rnd),
      world(std::move(initial)),
      authentication(rnd.text(32, "0123456789abcdef")),
      locks(ex, clk),
      tasks(ex, clk, locks),
      background(ex),
      statistics(*this) {
    if (world.authority_fingerprint.empty())
        world.authority_fingerprint = made_up_fingerprint("the authority of " + world.cluster_name);
    for (auto& known : world.hosts)
        if (known.certificate_fingerprint.empty())
            known.certificate_fingerprint = made_up_fingerprint(known.name);
}

Host* Cluster::find_host(const std::string& name) {
    for (auto& candidate : world.hosts) {
        if (candidate.name == name) return &candidate;
    }
    return nullptr;
}

Host& Cluster::host(const std::string& name) {
    if (auto* found = find_host(name)) return *found;
    throw failure("no such cluster node '" + name + "'");
}

void Cluster::isolate(const std::string& name) {
    auto& shown = isolated_[host(name).name];
    shown.clear();
    for (const auto& [vmid, machine] : world.machines) shown.insert(vmid);
}

bool Cluster::shows_machine(const std::string& on_host, int vmid) const {
    const auto shown = isolated_.find(on_host);
    if (shown == isolated_.end()) return world.machines.contains(vmid);
    return shown->second.contains(vmid);
}

bool Cluster::seems_online(const Host& candidate, const std::string& observer) const {
    return is_isolated(observer) ? candidate.name == observer : seems_online(candidate);
}

bool Cluster::seems_online(const Host& candidate) const {
    if (is_isolated(candidate.name)) return false;
    if (candidate.powered_on) return true;
    return candidate.powered_off_at && clock.now() < *candidate.powered_off_at + kFailureDetection;
}

bool Cluster::has_quorum() const {
    if (world.standalone) return true;
    if (is_partitioned) return false;
    auto online = std::count_if(world.hosts.begin(), world.hosts.end(),
                                [this](const auto& candidate) { return seems_online(candidate); });
    return static_cast<std::size_t>(online) > world.hosts.size() / 2;
}

void Cluster::require_quorum() const {
    if (!has_quorum()) throw failure("cluster not ready - no quorum?");
}

void Cluster::require_writable(const std::string& node, int vmid) const {
    constexpr std::uint64_t kPids = 30000;
    if (has_quorum(node)) return;
    throw failure("unable to open file '/etc/pve/nodes/" + node + "/qemu-server/" + std::to_string(vmid) +
                  ".conf.tmp." + std::to_string(100 + random.below(kPids)) + "' - Permission denied");
}

asio::awaitable<void> Cluster::lock_user_config(std::string action) {
    if (has_quorum()) co_return;
    co_await clock.sleep_for(kLockTimeout);
    throw failure(action + ": cfs-lock 'file-user_cfg' error: no quorum!");
}

Machine* Cluster::find_machine(const std::string& node, int vmid) {
    auto found = world.machines.find(vmid);
    return found != world.machines.end() && found->second.node == node ? &found->second : nullptr;
}

Machine& Cluster::machine(const std::string& node, int vmid) {
    if (auto* found = find_machine(node, vmid)) return *found;
    throw failure("Configuration file 'nodes/" + node + "/qemu-server/" + std::to_string(vmid) +
                  ".conf' does not exist");
}

Task& Cluster::create_task(const std::string& node, const std::string& type, const std::string& id,
                           const std::string& user) {
    return tasks.create(host(node), type, id, user);
}

std::string Cluster::run_task(Task& task, asio::awaitable<void> work) {
    std::optional<TaskFault> fault;
    if (faults) fault = faults->on_task(task.type, task.id);
    tasks.run(background, task, std::move(work), std::move(fault));
    return task.upid;
}

void Cluster::power_off_host(const std::string& name) {
    auto& dead = host(name);
    if (!dead.powered_on) return;
    dead.powered_on = false;
    dead.powered_off_at = clock.now();
    dead.answered_since_power_off = false;
    tasks.kill_all_of(name);
    for (auto& [vmid, machine] : world.machines) {
        if (machine.node == name) stop_machine(machine);
    }
}

void Cluster::power_on_host(const std::string& name) {
    auto& back = host(name);
    if (back.powered_on) return;
    back.powered_on = true;
    back.booted_at = clock.now();
    for (auto& [vmid, machine] : world.machines) {
        if (machine.node == name && config_flag(machine.config, "onboot")) start_machine(machine);
    }
    statistics.refresh();
}

void Cluster::start_machine(Machine& machine) {
    if (machine.running) return;
    apply_pending(machine);
    regenerate_cloudinit(machine);
    Running running;
    running.since = running.guest_since = clock.now();
    running.pid = host(machine.node).next_pid++;
    running.config = machine.config;
    running.generation = ++generation_;
    machine.running = std::move(running);
    if (hooks) hooks->on_machine_started(view(machine));
}

void Cluster::stop_machine(Machine& machine) {
    if (!machine.running) return;
    auto last = view(machine);
    machine.running.reset();
    if (hooks) hooks->on_machine_stopped(last);
}

MachineView Cluster::view(const Machine& machine) const {
    MachineView result;
    const auto& config = machine.running ? machine.running->config : machine.config;
    result.vmid = machine.vmid;
    result.node = machine.node;
    result.name = display_name(machine);
    result.cpus = vcpus(config);
    result.memory_mib = memory_mib(config);
    result.config = config;
    result.boot_order = boot_order(config);
    result.address = first_address(machine);
    if (config.contains("smbios1")) {
        auto smbios = parse_properties(property_group("smbios1"), config.at("smbios1"));
        result.uuid = lower(smbios["uuid"]);
        bool encoded = smbios["base64"] == "1";
        result.smbios_serial = encoded ? base64_decode(smbios["serial"]) : smbios["serial"];
    }
    for (const auto& [option, drive] : drives(config)) {
        if (!drive.is_cdrom) continue;
        if (is_cloudinit_volume(drive.volume)) {
            result.cloudinit_drive = cloudinit_files(*this, machine);
        } else if (const auto* volume = find_volume(world, machine.node, drive.volume)) {
            if (!result.cdrom.empty()) continue;
            result.cdrom = volume->data;
            result.cdrom_volume = drive.volume;
        }
    }
    return result;
}

}  // namespace proxmox_simulator
