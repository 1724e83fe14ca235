// Decides what makes the ProvisioningReconciler look again. New demand extends the batching
// window; other changes only open it.
#include <tuple>

#include "controllers/provisioning/provisioning_reconciler.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/losses.hpp"
#include "controllers/state/room.hpp"
#include "controllers/state/undeclared_taints.hpp"
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
                      pool.status.nextRetryTime, pool.status.losses.has_value(),
                      pool.status.undeclaredTaints);
}

auto essence_of_provider(const NodeSmithProvider& provider) {
    return std::tie(provider.spec, provider.status.hosts);
}

auto essence_of_host(const NodeSmithHost& host) {
    return std::tie(host.spec, host.metadata.labels, host.status.capacity, host.status.claimRef);
}

bool is_host_ready(const NodeSmithHost& host) {
    return api::is_true(host.status.conditions, conditions::kReady);
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

kube::ObjectKey the_key() {
    return {"", "provisioning"};
}

}  // namespace

void ProvisioningReconciler::changed() {
    window_.note_change(clock_.now());
    queue_->add(the_key());
}

void ProvisioningReconciler::look_again() {
    next_look_ = clock_.now();
    queue_->add(the_key());
}

void ProvisioningReconciler::subscribe(kube::WorkQueue& queue) {
    queue_ = &queue;
    subscribe_to_pods();
    const auto again = [this](const auto&) { changed(); };
    kube::watch(informers_.claims).changed(essence_of_claim).call(again);
    kube::watch(informers_.nodes).changed(is_ready, essence_of_node).call(again);
    kube::watch(informers_.pools).changed(essence_of_pool, kUsage).call(again);
    kube::watch(informers_.providers).changed(essence_of_provider, why_not_ready).call(again);
    kube::watch(informers_.hosts).changed(essence_of_host, is_host_ready).call(again);
    kube::watch(informers_.control_planes).changed(&NodeSmithControlPlane::spec, kUsage).call(again);
    kube::watch(informers_.csi_drivers).changed(&api::CSIDriver::spec).call(again);
    kube::watch(informers_.csi_nodes)
        .changed(&api::CSINode::spec)
        .when([this](const api::CSINode&) { return !waiting_.empty(); })
        .call(again);
    kube::watch(informers_.csi_storage_capacities)
        .when([this](const api::CSIStorageCapacity&) { return !waiting_.empty(); })
        .call(again);
    kube::watch(informers_.runtime_classes)
        .changed(&api::RuntimeClass::overhead, &api::RuntimeClass::scheduling)
        .call(again);
    kube::watch(informers_.daemon_sets).changed(&api::DaemonSet::spec).call(again);
}

void ProvisioningReconciler::subscribe_to_pods() {
    kube::watch(informers_.pods).became(is_unschedulable).call([this](const api::Pod& pod) {
        waiting_.try_emplace(pod.metadata.uid, Waiting{clock_.now(), {}});
        window_.note_demand(clock_.now());
        queue_->add(the_key());
    });
    kube::watch(informers_.pods).ceased(is_unschedulable).call([this](const api::Pod& pod) {
        waiting_.erase(pod.metadata.uid);
        changed();
    });
    // Running pods use headroom, or free it.
    kube::watch(informers_.pods)
        .changed([](const api::Pod& pod) -> const auto& { return pod.spec.nodeName; })
        .when([this](const api::Pod& pod) {
            return !is_unschedulable(pod) && is_drainable(pod) && any_headroom();
        })
        .call([this](const api::Pod&) { changed(); });
}

bool ProvisioningReconciler::any_headroom() const {
    for (const auto& [key, pool] : informers_.pools.store().all())
        if (pool->spec.scaleUp.headroom != api::v1alpha1::Headroom{}) return true;
    return false;
}

}  // namespace controllers::provisioning
