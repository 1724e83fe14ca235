#include "bench/claims/scenario.hpp"

#include "test/simulators/proxmox/core/world_file.hpp"

namespace bench {

namespace {

constexpr std::int64_t kMachinesPerHost = 50;
constexpr std::int64_t kFirstVmid = 1000;

proxmox_simulator::World hosts_for(std::int64_t machines) {
    using proxmox_simulator::kGiB;
    auto world = proxmox_simulator::default_world();
    const auto sample = world.hosts.front();
    const auto hosts = (machines + kMachinesPerHost - 1) / kMachinesPerHost;
    for (auto i = static_cast<std::int64_t>(world.hosts.size()); i < hosts; ++i) {
        auto host = sample;
        host.name = "host-" + std::to_string(i);
        host.ip = "10.0.0." + std::to_string(i + 1);
        host.node_id = static_cast<int>(i) + 1;
        world.hosts.push_back(std::move(host));
    }
    for (auto& host : world.hosts) {
        host.cpus = 64;
        host.memory = 512 * kGiB;
    }
    for (auto& [id, storage] : world.storages) storage.total = 100'000 * kGiB;
    return world;
}

}  // namespace

simulation::Scenario fleet_scenario(std::int64_t machines) {
    auto scenario = simulation::plain_scenario();
    scenario.proxmox = hosts_for(machines);
    auto& proxmox = *scenario.providers.front().spec.proxmox;
    proxmox.vmIDRange = {kFirstVmid, kFirstVmid + machines - 1};
    auto& pool = scenario.pools.front();
    pool.spec.machineTemplate.sizes = {{"small", 2, 4096}};
    pool.spec.limits.maxNodes = machines;
    pool.spec.scaleDown.maxConcurrent = static_cast<std::int32_t>(machines);
    pool.spec.disruption.budgets = {{api::IntOrString("100%"), {}, "", {}}};
    scenario.deployments = {simulation::a_deployment(kDeployment, 0, "1500m", "2Gi")};
    return scenario;
}

}  // namespace bench
