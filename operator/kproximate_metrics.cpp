#include "operator/kproximate_metrics.hpp"

#include <tuple>
#include <utility>

#include "scheduling/table/amounts.hpp"

namespace kubenodesmith {
namespace {

struct Totals {
    double machines = 0;
    double running = 0;
    double cpu_provisioned = 0;  // cores; also the next two
    double cpu_allocatable = 0;
    double cpu_requested = 0;
    double memory_provisioned = 0;  // bytes; also the next two
    double memory_allocatable = 0;
    double memory_requested = 0;
};

void add(const scheduling::Amounts& amounts, double& cpu, double& memory) {
    cpu += static_cast<double>(amounts.base[scheduling::kCpu]) / 1000;
    memory += static_cast<double>(amounts.base[scheduling::kMemory]);
}

// Sums up over the same nodes: the Ready ones that have a claim.
Totals totals_of(const report::ClusterReport& report, const kube::Store<api::Pod>& pods) {
    Totals totals;
    scheduling::ResourceNames names;
    for (const auto& claim : report.claims) {
        if (!claim.claim->status.machineID.empty()) ++totals.machines;
        if (!claim.has_ready_node()) continue;
        const auto& [capacity, allocatable] =
            std::tie(claim.node->status.capacity, claim.node->status.allocatable);
        ++totals.running;
        add(scheduling::amounts_of(capacity, names), totals.cpu_provisioned, totals.memory_provisioned);
        add(scheduling::amounts_of(allocatable, names), totals.cpu_allocatable, totals.memory_allocatable);
        for (const auto& pod : pods.by_index(controllers::kPodsByNode, claim.node->metadata.name))
            add(scheduling::requests_of(pod->spec, names), totals.cpu_requested, totals.memory_requested);
    }
    return totals;
}

struct KproximateGauge {
    const char* name;
    const char* help;
    double Totals::* value;
};
constexpr KproximateGauge gauge(const char* name, const char* help, double Totals::* value) {
    return {name, help, value};
}
constexpr KproximateGauge kGauges[] = {
    gauge("kpnodes_total", "Machines with a claim", &Totals::machines),
    gauge("kpnodes_running", "Ready nodes with a claim", &Totals::running),
    gauge("cpu_provisioned_total", "CPUs of ready nodes with a claim", &Totals::cpu_provisioned),
    gauge("memory_provisioned_total", "Memory of ready nodes with a claim, in bytes",
          &Totals::memory_provisioned),
    gauge("cpu_allocatable_total", "CPUs that ready nodes with a claim offer to pods",
          &Totals::cpu_allocatable),
    gauge("memory_allocatable_total", "Memory that ready nodes with a claim offer to pods, in bytes",
          &Totals::memory_allocatable),
    gauge("cpu_allocated_total", "CPUs that pods on ready nodes with a claim request",
          &Totals::cpu_requested),
    gauge("memory_allocated_total", "Memory that pods on ready nodes with a claim request, in bytes",
          &Totals::memory_requested),
};

}  // namespace

std::unique_ptr<base::MetricsRegistry::Hook> add_kproximate_metrics(base::MetricsRegistry& registry,
                                                                    report::LookAtCluster look,
                                                                    const kube::Store<api::Pod>& pods) {
    for (const auto& each : kGauges) registry.gauge(each.name, each.help).with({});
    return registry.before_exposition([&registry, look = std::move(look), &pods] {
        const auto totals = totals_of(look(), pods);
        for (const auto& each : kGauges)
            registry.gauge(each.name, each.help).with({}).set(totals.*each.value);
    });
}

}  // namespace kubenodesmith
