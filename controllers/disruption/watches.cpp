// Decides which changes in the cluster make the DisruptionReconciler examine which pools.
#include <tuple>

#include "controllers/cache/writes.hpp"
#include "controllers/disruption/disruption_reconciler.hpp"
#include "controllers/state/local_volumes.hpp"
#include "kube/watches.hpp"

namespace controllers::disruption {

namespace {

// Returns the parts of a Node that decide whether it may be removed. Heartbeats are not among them.
auto essence(const api::Node& node) {
    return std::tie(node.spec, node.metadata.labels, node.metadata.annotations);
}

// Returns what forbids disruption: the provider answers for another cluster, or another operator owns its
// machines.
std::pair<std::string, bool> readiness(const NodeSmithProvider& provider) {
    const auto* ready = api::find_condition(provider.status.conditions, conditions::kReady);
    return {ready ? ready->reason : std::string(),
            api::is_true(provider.status.conditions, conditions::kOtherOperatorFound)};
}

auto offers(const NodeSmithProvider& provider) {
    return std::tie(provider.status.hosts, provider.status.templates);
}

bool is_healthy(const NodeSmithControlPlane& control_plane) {
    return api::is_true(control_plane.status.conditions, conditions::kClusterHealthy);
}

// Returns which pods a budget lets go, as far as the budget itself shows.
auto leniency(const api::PodDisruptionBudget& budget) {
    const auto& status = budget.status;
    const bool is_healthy = status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
    return std::tuple(status.disruptionsAllowed > 0, is_healthy, budget.spec.unhealthyPodEvictionPolicy);
}

kube::ObjectKey pool_of(const NodeSmithClaim& claim) {
    return {claim.metadata.namespace_, claim.spec.poolRef};
}

}  // namespace

void DisruptionReconciler::subscribe(kube::WorkQueue& queue) {
    const auto pools_on = [this](const std::string& node) {
        kube::Keys keys;
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, node))
            keys.push_back(pool_of(*claim));
        return keys;
    };
    stopped_.on_change([&queue](const kube::ObjectKey& pool) { queue.add(pool); });
    const auto all = [this](const auto&) { return kube::keys_of(informers_.pools.store()); };

    kube::watch(informers_.pods)
        .when([](const api::Pod& pod) { return !pod.spec.nodeName.empty() && is_drainable(pod); })
        .after(kBurst)
        .enqueue(queue, [pools_on](const api::Pod& pod) { return pools_on(pod.spec.nodeName); });
    // A pod that no longer waits may have kept an empty node.
    kube::watch(informers_.pods).flipped(is_unschedulable).enqueue(queue, all);

    kube::watch(informers_.nodes)
        .changed(is_ready, essence)
        .after(kBurst)
        .enqueue(queue, [pools_on](const api::Node& node) { return pools_on(node.metadata.name); });
    kube::watch(informers_.nodes).gone().call([this](const api::Node& node) {
        announcer_.settle(node.metadata.uid);
        stays_.erase(node.metadata.name);
    });

    kube::watch(informers_.persistent_volumes)
        .when([](const api::PersistentVolume& volume) { return !places_of(volume).empty(); })
        .changed(decides_on_volume)
        .after(kBurst)
        .enqueue(queue, all);
    kube::watch(informers_.persistent_volume_claims)
        .flipped([](const api::PersistentVolumeClaim& claim) { return says_disposable(claim.metadata); })
        .after(kBurst)
        .enqueue(queue, all);
    kube::watch(informers_.storage_classes)
        .flipped(
            [](const api::StorageClass& storage_class) { return says_disposable(storage_class.metadata); })
        .after(kBurst)
        .enqueue(queue, all);

    kube::watch(informers_.claims).enqueue(queue, pool_of);
    kube::watch(informers_.claims).gone().call([this](const NodeSmithClaim& claim) {
        refusals_.forget(claim.metadata.uid);
        stopped_.forget(claim.metadata.uid);
        queue_.forget(claim.metadata.uid);
    });

    kube::watch(informers_.pools).enqueue(queue);
    kube::watch(informers_.providers).changed(offers, readiness).enqueue(queue, all);
    kube::watch(informers_.hosts)
        .flipped([](const NodeSmithHost& host) { return host.spec.maintenance; })
        .enqueue(queue, all);
    kube::watch(informers_.control_planes)
        .changed(&NodeSmithControlPlane::spec, is_healthy)
        .enqueue(queue, all);
    kube::watch(informers_.pod_disruption_budgets).changed(leniency).enqueue(queue, all);
}

}  // namespace controllers::disruption
