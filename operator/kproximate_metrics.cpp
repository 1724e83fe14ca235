#include "operator/kproximate_metrics.hpp"

#include <cstdint>

#include "controllers/state/pool_counts.hpp"
#include "scheduling/table/amounts.hpp"

namespace kubenodesmith {
namespace {

struct Sum {
    double cpu = 0;     // cores
    double memory = 0;  // bytes

    void add(const scheduling::Amounts& amounts) {
        cpu += static_cast<double>(amounts.base[scheduling::kCpu]) / 1000;
        memory += static_cast<double>(amounts.base[scheduling::kMemory]);
    }
};

struct Totals {
    double machines = 0;
    double running = 0;
    Sum provisioned;
    Sum allocatable;
    Sum requested;
};

// All of them over the same nodes: the Ready ones that have a claim.
Totals totals_of(const controllers::Informers& informers) {
    Totals totals;
    scheduling::ResourceNames names;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        if (!claim->status.machineID.empty()) ++totals.machines;
        const auto node = informers.nodes.store().get({"", claim->status.nodeName});
        if (!node || !controllers::is_ready(*node)) continue;
        ++totals.running;
        totals.provisioned.add(scheduling::amounts_of(node->status.capacity, names));
        totals.allocatable.add(scheduling::amounts_of(node->status.allocatable, names));
        for (const auto& pod :
             informers.pods.store().by_index(controllers::kPodsByNode, node->metadata.name)) {
            totals.requested.add(scheduling::requests_of(pod->spec, names));
        }
    }
    return totals;
}

}  // namespace

std::unique_ptr<base::MetricsRegistry::Hook> add_kproximate_metrics(base::MetricsRegistry& registry,
                                                                    const controllers::Informers& informers) {
    auto& machines = registry.gauge("kpnodes_total", "Machines with a claim").with({});
    auto& running = registry.gauge("kpnodes_running", "Ready nodes with a claim").with({});
    auto& cpu = registry.gauge("cpu_provisioned_total", "CPUs of these nodes").with({});
    auto& memory = registry.gauge("memory_provisioned_total", "Memory of these nodes in bytes").with({});
    auto& cpu_offered = registry.gauge("cpu_allocatable_total", "CPUs that they offer to pods").with({});
    auto& memory_offered =
        registry.gauge("memory_allocatable_total", "Memory that they offer to pods, in bytes").with({});
    auto& cpu_used = registry.gauge("cpu_allocated_total", "CPUs that their pods request").with({});
    auto& memory_used =
        registry.gauge("memory_allocated_total", "Memory that their pods request, in bytes").with({});
    return registry.before_exposition([&machines, &running, &cpu, &memory, &cpu_offered, &memory_offered,
                                       &cpu_used, &memory_used, &informers] {
        const auto totals = totals_of(informers);
        machines.set(totals.machines);
        running.set(totals.running);
        cpu.set(totals.provisioned.cpu);
        memory.set(totals.provisioned.memory);
        cpu_offered.set(totals.allocatable.cpu);
        memory_offered.set(totals.allocatable.memory);
        cpu_used.set(totals.requested.cpu);
        memory_used.set(totals.requested.memory);
    });
}

}  // namespace kubenodesmith
