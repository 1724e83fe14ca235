#include "controllers/provisioning/triggers.hpp"

#include <tuple>

#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/provisioning/expected_node.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/losses.hpp"
#include "kube/watches.hpp"

namespace controllers::provisioning {

namespace {

// Returns the parts of an object that affect a decision. A claim's progress from step to step does not.
auto essence_of_claim(const NodeSmithClaim& claim) {
    return std::tuple(state_of(claim), disruption::is_staying(claim), limits::is_admitted(claim),
                      lacks_room(claim), lacks_provider(claim), is_held_up(claim),
                      api::is_true(claim.status.conditions, conditions::kLaunched),
                      api::is_true(claim.status.conditions, conditions::kInitialized),
                      claim::usable_since(claim), claim.status.undeclaredTaints);
}

auto essence_of_node(const api::Node& node) {
    return std::tie(node.spec, node.metadata.labels, node.status.allocatable);
}

auto essence_of_pool(const NodeSmithPool& pool) {
    return std::tuple(pool.spec, pool.metadata.deletionTimestamp, pool.status.learnedReserved,
                      pool.status.learnedVolumeLimits, pool.status.learnedDaemonSets,
                      pool.status.nextRetryTime, pool.status.losses.has_value(),
                      pool.status.undeclaredTaints);
}

auto essence_of_provider(const NodeSmithProvider& provider) {
    return std::tie(provider.spec, provider.status.hosts);
}

auto essence_of_host(const NodeSmithHost& host) {
    return std::tie(host.spec, host.metadata.labels, host.status.capacity, host.status.claimRef);
}

// Applies to pools and control planes.
constexpr auto kUsage = [](const auto& object) { return limits::usage_of(object.status.reserved); };

// Returns why the provider is not Ready, or not usable for the configured way of
// joining. Waiting pods get this reason.
std::string why_not_ready(const NodeSmithProvider& provider) {
    const auto* ready = api::find_condition(provider.status.conditions, conditions::kReady);
    if (!ready) return "not examined";
    if (ready->status != ConditionStatus::True) return "not ready: " + ready->message;
    std::string text;
    for (const auto type : {conditions::kBootImagesUsable, conditions::kGuestAgentUsable})
        if (const auto* missing = api::find_condition(provider.status.conditions, type))
            text += missing->message;
    return text;
}

bool any_headroom(const Informers& informers) {
    for (const auto& [key, pool] : informers.pools.store().all())
        if (pool->spec.scaleUp.headroom != api::v1alpha1::Headroom{}) return true;
    return false;
}

void subscribe_to_pods(Informers& informers, const Triggers& triggers) {
    kube::watch(informers.pods).became(is_unschedulable).call(triggers.begins_to_wait);
    kube::watch(informers.pods).ceased(is_unschedulable).call(triggers.waits_no_longer);
    // Running pods use headroom, or free it.
    kube::watch(informers.pods)
        .changed([](const api::Pod& pod) -> const auto& { return pod.spec.nodeName; })
        .when([&informers](const api::Pod& pod) {
            return !is_unschedulable(pod) && is_drainable(pod) && any_headroom(informers);
        })
        .call([changed = triggers.changed](const api::Pod&) { changed(); });
}

}  // namespace

void subscribe_to_changes(Informers& informers, const Triggers& triggers) {
    subscribe_to_pods(informers, triggers);
    const auto again = [changed = triggers.changed](const auto&) { changed(); };
    const auto pods_wait = [pods_wait = triggers.pods_wait](const auto&) { return pods_wait(); };
    kube::watch(informers.claims).changed(essence_of_claim).call(again);
    kube::watch(informers.nodes).changed(is_ready, essence_of_node).call(again);
    kube::watch(informers.pools).changed(essence_of_pool, kUsage).call(again);
    kube::watch(informers.providers).changed(essence_of_provider, why_not_ready).call(again);
    // A host becomes fit without a change of its spec, for example when its BMC answers again. When
    // maintenance ends, its spec changes first, and the host becomes fit after the next look at it. Therefore
    // both start another round.
    kube::watch(informers.hosts).changed(essence_of_host, is_fit_for_use).call(again);
    kube::watch(informers.control_planes).changed(&NodeSmithControlPlane::spec, kUsage).call(again);
    // These change where volumes of waiting pods can be provisioned or attached.
    kube::watch(informers.csi_drivers).changed(&api::CSIDriver::spec).call(again);
    kube::watch(informers.csi_nodes).changed(&api::CSINode::spec).when(pods_wait).call(again);
    kube::watch(informers.csi_storage_capacities).when(pods_wait).call(again);
    // These change what a pod needs, or what is left of a machine for it.
    kube::watch(informers.runtime_classes)
        .changed(&api::RuntimeClass::overhead, &api::RuntimeClass::scheduling)
        .call(again);
    kube::watch(informers.daemon_sets).changed(&api::DaemonSet::spec).call(again);
}

}  // namespace controllers::provisioning
