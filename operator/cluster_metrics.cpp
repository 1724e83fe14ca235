#include "operator/cluster_metrics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controllers/state/prices.hpp"
#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/table/amounts.hpp"

namespace kubenodesmith {

namespace {

double price_of(const scheduling::Amounts& amounts, const scheduling::Prices& prices) {
    return prices.of(static_cast<double>(amounts.base[scheduling::kCpu]) / scheduling::kMilli,
                     static_cast<double>(amounts.base[scheduling::kMemory]) / scheduling::kMiB);
}

}  // namespace

ClusterMetrics::ClusterMetrics(kube::Informer<api::Pod>& pods, base::Clock& clock,
                               base::MetricsRegistry& registry, report::LookAtCluster look,
                               const std::string& lease)
    : pods_(pods.store()),
      clock_(clock),
      look_(std::move(look)),
      // client-go's name of this metric.
      leader_(
          registry.gauge("leader_election_master_status", "1 if this process leads", {"name"}).with({lease})),
      unschedulable_(
          registry.gauge("kubenodesmith_pods_unschedulable", "Pods that the scheduler found no node for")
              .with({})),
      waited_(registry
                  .histogram("kubenodesmith_pod_unschedulable_to_running_seconds",
                             "Time from seeing a pod as unschedulable until it ran, for whatever reason",
                             {1, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600})
                  .with({})),
      pool_nodes_(
          registry.gauge("kubenodesmith_pool_nodes",
                         "Nodes of the pool by state: ready, unready, or pending (created, not joined)",
                         {"namespace", "pool", "state"})),
      host_free_(registry.gauge("kubenodesmith_provider_host_free",
                                "Resources of a host that are not committed: cpu_cores or memory_mib",
                                {"namespace", "provider", "host", "resource"})),
      host_machines_(registry.gauge("kubenodesmith_provider_host_machines", "Managed machines on a host",
                                    {"namespace", "provider", "host"})),
      removals_blocked_(registry.gauge("kubenodesmith_removals_blocked",
                                       "Nodes that could be removed but are kept, by reason",
                                       {"kind", "reason"})),
      price_(registry.gauge("kubenodesmith_price",
                            "Price of the pool's machines with a Node by machineTemplate.price; without a "
                            "price a GiB of memory costs 1 and a CPU 4",
                            {"namespace", "pool"})),
      price_unused_(registry.gauge(
          "kubenodesmith_price_unused",
          "Part of kubenodesmith_price that no pod on these Nodes requests, including the system reserve",
          {"namespace", "pool"})),
      exposition_(registry.before_exposition([this] { update(); })) {
    pods.on_change([this](const api::Pod* before, const api::Pod* after) { on_pod(before, after); });
}

void ClusterMetrics::Series::set(base::LabelValues labels, double value) {
    family_.with(labels).set(value);
    now_.insert(std::move(labels));
}

void ClusterMetrics::Series::drop_others() {
    for (const auto& labels : before_) {
        if (!now_.contains(labels)) family_.remove(labels);
    }
    before_ = std::exchange(now_, {});
}

void ClusterMetrics::update() {
    const auto report = look_();
    leader_.set(report.leading ? 1 : 0);
    unschedulable_.set(static_cast<double>(report.unschedulable.size()));
    for (const auto& pool : report.pools) {
        const auto& status = pool->status;
        const auto set = [this, name = api::key_of(*pool)](const char* state, std::int64_t count) {
            pool_nodes_.set({name.namespace_, name.name, state}, static_cast<double>(count));
        };
        set("ready", status.readyNodes);
        set("unready", status.nodes - status.readyNodes);
        set("pending", status.pendingNodes);
    }
    for (const auto& provider : report.providers) {
        const auto& [namespace_, name] = std::tie(provider->metadata.namespace_, provider->metadata.name);
        for (const auto& host : provider->status.hosts) {
            const base::LabelValues labels{namespace_, name, host.name};
            auto with_resource = [&labels](const char* resource) {
                auto all = labels;
                all.emplace_back(resource);
                return all;
            };
            host_free_.set(with_resource("cpu_cores"), static_cast<double>(host.freeCPUCores));
            host_free_.set(with_resource("memory_mib"), static_cast<double>(host.freeMemoryMiB));
            host_machines_.set(labels, static_cast<double>(host.machines));
        }
    }
    update_prices(report);
    std::map<base::LabelValues, double> blocked;
    for (const auto& [node, stay] : report.stays) {
        ++blocked[{std::string(controllers::disruption::name_of(stay.kind)), stay.blocker.reason}];
    }
    for (const auto& [labels, nodes] : blocked) removals_blocked_.set(labels, nodes);
    removals_blocked_.drop_others();
    pool_nodes_.drop_others();
    host_free_.drop_others();
    host_machines_.drop_others();
}

void ClusterMetrics::update_prices(const report::ClusterReport& report) {
    struct Use {
        scheduling::Prices prices;
        double price = 0;
        double used = 0;
    };
    std::map<api::ObjectKey, Use> pools;
    for (const auto& pool : report.pools) pools[api::key_of(*pool)].prices = controllers::prices_of(*pool);
    scheduling::ResourceNames names;
    for (const auto& facts : report.claims) {
        if (!facts.node) continue;
        auto& use = pools[{facts.claim->metadata.namespace_, facts.claim->spec.poolRef}];
        use.price += price_of(scheduling::amounts_of(facts.node->status.capacity, names), use.prices) +
                     use.prices.machine.value_or(0);
        for (const auto& pod : pods_.by_index(controllers::kPodsByNode, facts.node->metadata.name))
            if (!scheduling::is_finished(*pod))
                use.used += price_of(scheduling::taken_by(*pod, names), use.prices);
    }
    for (const auto& [pool, use] : pools) {
        price_.set({pool.namespace_, pool.name}, use.price);
        price_unused_.set({pool.namespace_, pool.name}, std::max(0.0, use.price - use.used));
    }
    price_.drop_others();
    price_unused_.drop_others();
}

void ClusterMetrics::on_pod(const api::Pod* before, const api::Pod* after) {
    const auto& pod = after ? *after : *before;
    const auto& uid = pod.metadata.uid;
    if (after && controllers::is_unschedulable(*after)) {
        unschedulable_since_.try_emplace(uid, clock_.now());
        return;
    }
    const auto known = unschedulable_since_.find(uid);
    if (known == unschedulable_since_.end()) return;
    const bool runs = after && after->status.phase == api::PodPhase::Running;
    if (runs) waited_.observe(std::chrono::duration<double>(clock_.now() - known->second).count());
    if (runs || !after) unschedulable_since_.erase(known);
}

}  // namespace kubenodesmith
