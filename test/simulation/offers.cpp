#include "test/simulation/offers.hpp"

#include <algorithm>

namespace simulation {
namespace {

constexpr const char* kNewNode = "a-new-node";
// The operator assumes this number where no kubelet has reported another one.
constexpr std::int64_t kAssumedPods = 110;
constexpr std::int64_t kAssumedDiskPercent = 15;

std::optional<std::int64_t> stated_pods(const NodeSmithPool& pool) {
    const auto& bootstrap = pool.spec.bootstrap;
    const auto stated = bootstrap && bootstrap->kubelet ? bootstrap->kubelet->maxPods : 0;
    return stated > 0 ? std::optional(stated) : std::nullopt;
}

bool is_joined_by_us(const NodeSmithPool& pool) {
    return pool.spec.bootstrap && pool.spec.bootstrap->method != api::v1alpha1::BootstrapMethod::None;
}

}  // namespace

api::Node new_node(const NodeSmithPool& pool, const NodeSmithProvider& provider, const std::string& host) {
    api::Node node;
    node.metadata.name = kNewNode;
    auto& labels = *node.metadata.labels;
    labels = pool.spec.machineTemplate.labels;
    labels[pool.spec.poolLabelKey] = pool.metadata.name;
    labels[std::string(api::labels::kHostname)] = kNewNode;
    labels[std::string(api::labels::kArch)] = "amd64";
    labels[std::string(api::labels::kOs)] = "linux";
    const auto& zone = provider.spec.proxmox->placement.zoneLabel;
    if (!zone.empty()) labels[zone] = host;
    node.spec.taints = pool.spec.machineTemplate.taints;
    return node;
}

std::vector<api::Pod> daemons_on(const World& world, const api::Node& node) {
    std::vector<api::Pod> daemons;
    for (const auto& [key, set] : world.view.all<api::DaemonSet>()) {
        auto pod = daemon_pod(*set, node.metadata.name);
        if (!node_refuses(node, pod)) daemons.push_back(std::move(pod));
    }
    return daemons;
}

api::ResourceList offered(const World& world, const NodeSmithPool& pool, const Registration& machine) {
    const auto& said = pool.status.learnedReserved.value_or(pool.spec.machineTemplate.systemReserved);
    auto poorer = world.kubelets.habits().on(machine);
    poorer.cpu_millicores = std::max(poorer.cpu_millicores, said.cpuMillicores);
    poorer.memory_mib = std::max(poorer.memory_mib, said.memoryMiB);
    poorer.disk_percent = std::max<std::int64_t>(poorer.disk_percent, kAssumedDiskPercent);
    poorer.pods = std::min(poorer.pods, stated_pods(pool).value_or(kAssumedPods));
    auto told = machine;
    told.max_pods = is_joined_by_us(pool) ? stated_pods(pool).value_or(0) : 0;
    return poorer.allocatable(told);
}

}  // namespace simulation
