#include "operator/pool_metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "controllers/state/prices.hpp"
#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/table/amounts.hpp"

namespace kubenodesmith {

using api::v1alpha1::ClaimPhase;

namespace {

constexpr double kBytesInMiB = 1024 * 1024;
constexpr std::array kPhases{ClaimPhase::Pending,      ClaimPhase::Launching, ClaimPhase::Registering,
                             ClaimPhase::Initializing, ClaimPhase::Ready,     ClaimPhase::Draining,
                             ClaimPhase::Terminating,  ClaimPhase::Failed};

double cpus_of(const scheduling::Amounts& amounts) {
    return static_cast<double>(amounts.base[scheduling::kCpu]) / scheduling::kMilli;
}

double bytes_of(const scheduling::Amounts& amounts) {
    return static_cast<double>(amounts.base[scheduling::kMemory]);
}

double price_of(const scheduling::Amounts& amounts, const scheduling::Prices& prices) {
    return prices.of(cpus_of(amounts), bytes_of(amounts) / kBytesInMiB);
}

// PoolRoom is what the nodes of a pool have, offer and are asked for.
struct PoolRoom {
    scheduling::Prices prices;
    scheduling::Amounts capacity;
    scheduling::Amounts allocatable;
    scheduling::Amounts requested;
    double price = 0;
};

void set_amounts(GaugeSeries& series, const api::ObjectKey& pool, const scheduling::Amounts& amounts) {
    series.set({pool.namespace_, pool.name, "cpu"}, cpus_of(amounts));
    series.set({pool.namespace_, pool.name, "memory"}, bytes_of(amounts));
    series.set({pool.namespace_, pool.name, "pods"}, static_cast<double>(amounts.base[scheduling::kPods]));
}

}  // namespace

PoolMetrics::PoolMetrics(base::MetricsRegistry& registry, const kube::Store<api::Pod>& pods)
    : pods_(pods),
      nodes_(registry.gauge("kubenodesmith_pool_nodes",
                            "Nodes of the pool by state: ready, unready, or pending (created, not joined)",
                            {"namespace", "pool", "state"})),
      claims_(registry.gauge("kubenodesmith_claims", "Claims by phase", {"namespace", "pool", "phase"})),
      used_(registry.gauge("kubenodesmith_pool_used",
                           "What counts against the pool's limits: nodes, cpu in cores, and memory in bytes",
                           {"namespace", "pool", "resource"})),
      limit_(registry.gauge("kubenodesmith_pool_limit",
                            "The pool's limits: nodes, cpu in cores, and memory in bytes; 0 is unlimited",
                            {"namespace", "pool", "resource"})),
      capacity_(registry.gauge("kubenodesmith_pool_capacity",
                               "Capacity of the pool's Nodes: cpu in cores, memory in bytes, and pods",
                               {"namespace", "pool", "resource"})),
      allocatable_(registry.gauge("kubenodesmith_pool_allocatable",
                                  "What the pool's Nodes offer to pods: cpu in cores, memory in bytes, and "
                                  "pods",
                                  {"namespace", "pool", "resource"})),
      requested_(registry.gauge("kubenodesmith_pool_requested",
                                "What the pods on the pool's Nodes request: cpu in cores, memory in bytes, "
                                "and pods",
                                {"namespace", "pool", "resource"})),
      price_(registry.gauge("kubenodesmith_price",
                            "Price of the pool's machines with a Node by machineTemplate.price; without a "
                            "price a GiB of memory costs 1 and a CPU 4",
                            {"namespace", "pool"})),
      price_unused_(registry.gauge(
          "kubenodesmith_price_unused",
          "Part of kubenodesmith_price that no pod on these Nodes requests, including the system reserve",
          {"namespace", "pool"})),
      kept_(registry.gauge("kubenodesmith_removals_blocked",
                           "Nodes that could be removed for a reason but are kept, by what blocks it",
                           {"namespace", "pool", "reason", "blocker"})) {}

void PoolMetrics::update(const report::ClusterReport& report) {
    for (const auto& pool : report.pools) add(*pool);
    add_claims(report);
    add_kept_nodes(report);
    add_room(report);
    for (auto* series : {&nodes_, &claims_, &used_, &limit_, &capacity_, &allocatable_, &requested_, &price_,
                         &price_unused_, &kept_})
        series->publish();
}

void PoolMetrics::add(const api::v1alpha1::NodeSmithPool& pool) {
    const auto key = api::key_of(pool);
    const auto& status = pool.status;
    const auto set_nodes = [&](const char* state, std::int64_t count) {
        nodes_.set({key.namespace_, key.name, state}, static_cast<double>(count));
    };
    set_nodes("ready", status.readyNodes);
    set_nodes("unready", status.nodes - status.readyNodes);
    set_nodes("pending", status.pendingNodes);
    for (const auto phase : kPhases)
        claims_.set({key.namespace_, key.name, std::string(api::name_of(phase))}, 0);
    const auto set_limit = [&](const char* resource, std::int64_t used, std::int64_t limit, double unit) {
        used_.set({key.namespace_, key.name, resource}, static_cast<double>(used) * unit);
        limit_.set({key.namespace_, key.name, resource}, static_cast<double>(limit) * unit);
    };
    set_limit("nodes", status.reserved.nodes, pool.spec.limits.maxNodes, 1);
    set_limit("cpu", status.reserved.cpuCores, pool.spec.limits.cpuCores, 1);
    set_limit("memory", status.reserved.memoryMiB, pool.spec.limits.memoryMiB, kBytesInMiB);
}

void PoolMetrics::add_claims(const report::ClusterReport& report) {
    for (const auto& facts : report.claims)
        claims_.add({facts.claim->metadata.namespace_, facts.claim->spec.poolRef,
                     std::string(api::name_of(facts.phase()))},
                    1);
}

void PoolMetrics::add_kept_nodes(const report::ClusterReport& report) {
    for (const auto& [node, stay] : report.stays) {
        const auto* facts = report.claim_of_node(node);
        if (!facts) continue;
        kept_.add({facts->claim->metadata.namespace_, facts->claim->spec.poolRef,
                   std::string(controllers::disruption::name_of(stay.kind)), stay.blocker.reason},
                  1);
    }
}

void PoolMetrics::add_room(const report::ClusterReport& report) {
    std::map<api::ObjectKey, PoolRoom> pools;
    for (const auto& pool : report.pools) pools[api::key_of(*pool)].prices = controllers::prices_of(*pool);
    scheduling::ResourceNames names;
    for (const auto& facts : report.claims) {
        if (!facts.node) continue;
        auto& room = pools[{facts.claim->metadata.namespace_, facts.claim->spec.poolRef}];
        const auto capacity = scheduling::amounts_of(facts.node->status.capacity, names);
        room.capacity += capacity;
        room.allocatable += scheduling::amounts_of(facts.node->status.allocatable, names);
        room.price += price_of(capacity, room.prices) + room.prices.machine.value_or(0);
        for (const auto& pod : pods_.by_index(controllers::kPodsByNode, facts.node->metadata.name))
            if (!scheduling::is_finished(*pod)) room.requested += scheduling::taken_by(*pod, names);
    }
    for (const auto& [pool, room] : pools) {
        set_amounts(capacity_, pool, room.capacity);
        set_amounts(allocatable_, pool, room.allocatable);
        set_amounts(requested_, pool, room.requested);
        price_.set({pool.namespace_, pool.name}, room.price);
        price_unused_.set({pool.namespace_, pool.name},
                          std::max(0.0, room.price - price_of(room.requested, room.prices)));
    }
}

}  // namespace kubenodesmith
