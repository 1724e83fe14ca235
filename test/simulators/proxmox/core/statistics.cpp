#include "test/simulators/proxmox/core/statistics.hpp"

#include "test/simulators/proxmox/core/cluster.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/machine_status.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

constexpr Duration kInterval = std::chrono::seconds{10};
constexpr Duration kKept = std::chrono::minutes{5};

json::object storage_usage(const Storage& storage, const std::string& host) {
    return {{"disk", used_space(storage, host)}, {"maxdisk", storage.total}};
}

}  // namespace

Statistics::Statistics(Cluster& cluster) : cluster_(cluster) {
    refresh();
    schedule();
}

void Statistics::schedule() {
    alarm_ = cluster_.clock.call_at(cluster_.clock.now() + kInterval, [this] {
        refresh();
        schedule();
    });
}

void Statistics::refresh() {
    for (auto& host : cluster_.world.hosts) {
        if (!host.powered_on || !host.sends_statistics) continue;
        auto& report = reports_[host.name];
        report = {cluster_.clock.now(), host_usage(cluster_, host), {}, {}};
        for (const auto& [vmid, machine] : cluster_.world.machines) {
            if (machine.node == host.name) report.machines[vmid] = machine_usage(cluster_, machine);
        }
        for (const auto& [id, storage] : cluster_.world.storages) {
            if (!exists_on(storage, host.name) || !storage.enabled || !storage.active) continue;
            report.storages[id] = storage_usage(storage, host.name);
        }
    }
}

const Statistics::Report* Statistics::fresh(const std::string& host) const {
    auto report = reports_.find(host);
    if (report == reports_.end() || cluster_.clock.now() - report->second.time > kKept) return nullptr;
    return &report->second;
}

std::optional<json::object> Statistics::of_host(const std::string& host, const std::string& observer) const {
    const auto* report = fresh(host);
    auto* known = cluster_.find_host(host);
    if (!report || !known || !cluster_.seems_online(*known, observer)) return std::nullopt;
    return report->host;
}

std::optional<json::object> Statistics::of_machine(const std::string& host, int vmid) const {
    const auto* report = fresh(host);
    if (!report) return std::nullopt;
    auto machine = report->machines.find(vmid);
    if (machine == report->machines.end()) return std::nullopt;
    return machine->second;
}

std::optional<json::object> Statistics::of_storage(const std::string& host,
                                                   const std::string& storage) const {
    const auto* report = fresh(host);
    if (!report) return std::nullopt;
    auto found = report->storages.find(storage);
    if (found == report->storages.end()) return std::nullopt;
    return found->second;
}

}  // namespace proxmox_simulator
