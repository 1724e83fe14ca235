#include "test/simulators/proxmox/core/machine_status.hpp"

#include <algorithm>

#include "test/simulators/proxmox/core/cluster.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"

namespace proxmox_simulator {
namespace {

constexpr double kIdleLoad = 0.02;

std::int64_t whole_seconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

// Returns the used memory of a guest, which is most of it but not all.
std::uint64_t guest_memory_used(const Machine& machine) {
    return machine.running ? memory_mib(machine.running->config) * kMiB / 4 * 3 : 0;
}

void add_pressure(json::object& status) {
    for (const char* resource : {"cpu", "io", "memory"}) {
        for (const char* kind : {"full", "some"}) {
            status[std::string("pressure") + resource + kind] = 0;
        }
    }
}

}  // namespace

std::int64_t uptime(const Cluster& cluster, const Machine& machine) {
    return machine.running ? whole_seconds(cluster.clock.now() - machine.running->since) : 0;
}

std::int64_t uptime(const Cluster& cluster, const Host& host) {
    // A host that never lost power has been up for an hour when the simulation starts.
    auto since = host.booted_at.value_or(TimePoint{} - std::chrono::hours{1});
    return std::clamp<std::int64_t>(whole_seconds(cluster.clock.now() - since), 0, 100L * 24 * 3600);
}

std::uint64_t host_memory_used(const Cluster& cluster, const Host& host) {
    auto used = host.memory_used_by_host;
    for (const auto& [vmid, machine] : cluster.world.machines) {
        if (machine.node == host.name) used += guest_memory_used(machine);
    }
    return std::min(used, host.memory);
}

json::object machine_usage(const Cluster& cluster, const Machine& machine) {
    const auto& config = machine.running ? machine.running->config : machine.config;
    auto used = guest_memory_used(machine);
    return {{"cpu", machine.running ? json::value(kIdleLoad) : json::value(0)},
            {"disk", 0},
            {"diskread", 0},
            {"diskwrite", 0},
            {"maxcpu", vcpus(config)},
            {"maxdisk", boot_disk_size(machine.config)},
            {"maxmem", memory_mib(config) * kMiB},
            {"mem", used},
            {"memhost", used},
            {"name", display_name(machine)},
            {"netin", 0},
            {"netout", 0},
            {"status", machine.running ? "running" : "stopped"},
            {"template", config_flag(machine.config, "template") ? 1 : 0},
            {"uptime", uptime(cluster, machine)}};
}

json::object machine_summary(const Cluster& cluster, const Machine& machine) {
    auto summary = machine_usage(cluster, machine);
    summary["vmid"] = machine.vmid;
    summary["cpus"] = summary["maxcpu"];
    for (const char* key : {"maxcpu", "diskread", "diskwrite"}) summary.erase(key);
    if (summary["template"] == 0) summary.erase("template");
    if (auto tags = config_text(machine.config, "tags"); !tags.empty()) summary["tags"] = tags;
    if (auto lock = config_text(machine.config, "lock"); !lock.empty()) summary["lock"] = lock;
    if (machine.config.contains("serial0")) summary["serial"] = 1;
    if (machine.running) {
        summary["pid"] = machine.running->pid;
        add_pressure(summary);
    }
    return summary;
}

json::object machine_status(const Cluster& cluster, const Machine& machine) {
    auto status = machine_summary(cluster, machine);
    const auto& config = machine.running ? machine.running->config : machine.config;
    status["qmpstatus"] = !machine.running                ? "stopped"
                          : machine.running->is_paused    ? "paused"
                          : machine.running->guest_halted ? "shutdown"
                                                          : "running";
    if (has_agent(config)) status["agent"] = 1;
    if (config.contains("vga")) status["clipboard"] = nullptr;
    json::object ha{{"managed", 0}};
    auto resource = cluster.world.ha_resources.find("vm:" + std::to_string(machine.vmid));
    if (resource != cluster.world.ha_resources.end()) ha = {{"managed", 1}, {"state", resource->second}};
    status["ha"] = std::move(ha);
    return status;
}

json::object host_usage(const Cluster& cluster, const Host& host) {
    int running = 0;
    for (const auto& [vmid, machine] : cluster.world.machines) {
        if (machine.node == host.name && machine.running) running += vcpus(machine.running->config);
    }
    return {{"cgroup-mode", 1},
            {"cpu", std::min(1.0, kIdleLoad * (1 + running) / host.cpus)},
            {"disk", kRootDiskUsed},
            {"maxcpu", host.cpus},
            {"maxdisk", kRootDisk},
            {"maxmem", host.memory},
            {"mem", host_memory_used(cluster, host)},
            {"uptime", uptime(cluster, host)}};
}

}  // namespace proxmox_simulator
