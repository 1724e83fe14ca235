// What makes the ProvisioningReconciler look again. New demand extends the batching window, other changes
// only open it.
#include <tuple>

#include "controllers/provisioning/reconciler.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/room.hpp"

namespace controllers::provisioning {

using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithControlPlane;
using api::v1alpha1::NodeSmithPool;
using api::v1alpha1::NodeSmithProvider;
namespace conditions = api::conditions;

namespace {

// What of a claim alters a decision; its progress from step to step does not.
auto essence(const NodeSmithClaim& claim) {
    return std::tuple(state_of(claim), disruption::is_staying(claim), ledger::is_admitted(claim),
                      lacks_room(claim), is_held_up(claim),
                      api::is_true(claim.status.conditions, conditions::kLaunched),
                      api::is_true(claim.status.conditions, conditions::kInitialized));
}

bool same_node(const api::Node& a, const api::Node& b) {
    return is_ready(a) == is_ready(b) && a.spec == b.spec && a.metadata.labels == b.metadata.labels &&
           a.status.allocatable == b.status.allocatable;
}

bool same_pool(const NodeSmithPool& a, const NodeSmithPool& b) {
    return a.spec == b.spec && a.metadata.deletionTimestamp == b.metadata.deletionTimestamp &&
           a.status.learnedReserved == b.status.learnedReserved &&
           a.status.nextRetryTime == b.status.nextRetryTime &&
           ledger::usage_of(a.status.reserved) == ledger::usage_of(b.status.reserved);
}

// While it is not Ready, pods that wait are told why.
std::string why_not_ready(const NodeSmithProvider& provider) {
    const auto* ready = api::find_condition(provider.status.conditions, conditions::kReady);
    if (!ready) return "not examined";
    return ready->status == api::ConditionStatus::True ? "" : "not ready: " + ready->message;
}

bool same_provider(const NodeSmithProvider& a, const NodeSmithProvider& b) {
    return a.spec == b.spec && a.status.hosts == b.status.hosts && why_not_ready(a) == why_not_ready(b);
}

bool same_control_plane(const NodeSmithControlPlane& a, const NodeSmithControlPlane& b) {
    return a.spec == b.spec && ledger::usage_of(a.status.reserved) == ledger::usage_of(b.status.reserved);
}

bool same_host(const api::v1alpha1::NodeSmithHost& a, const api::v1alpha1::NodeSmithHost& b) {
    return a.spec == b.spec && a.metadata.labels == b.metadata.labels &&
           a.status.capacity == b.status.capacity && a.status.claimRef == b.status.claimRef &&
           api::is_true(a.status.conditions, conditions::kReady) ==
               api::is_true(b.status.conditions, conditions::kReady);
}

kube::ObjectKey the_key() {
    return {"", "provisioning"};
}

}  // namespace

void ProvisioningReconciler::changed() {
    window_.note_change(clock_.now());
    queue_->add(the_key());
}

// Calls changed() unless both are there and alike.
template <class T, class Same>
auto unless(Same same, std::function<void()> changed) {
    return [same, changed](const T* before, const T* after) {
        if (!before || !after || !same(*before, *after)) changed();
    };
}

void ProvisioningReconciler::subscribe(kube::WorkQueue& queue) {
    queue_ = &queue;
    const auto again = [this] { changed(); };
    informers_.pods.on_change(
        [this](const api::Pod* before, const api::Pod* after) { on_pod(before, after); });
    informers_.claims.on_change(
        unless<NodeSmithClaim>([](const auto& a, const auto& b) { return essence(a) == essence(b); }, again));
    informers_.nodes.on_change(unless<api::Node>(same_node, again));
    informers_.pools.on_change(unless<NodeSmithPool>(same_pool, again));
    informers_.providers.on_change(unless<NodeSmithProvider>(same_provider, again));
    informers_.hosts.on_change(unless<api::v1alpha1::NodeSmithHost>(same_host, again));
    informers_.control_planes.on_change(unless<NodeSmithControlPlane>(same_control_plane, again));
    informers_.csi_drivers.on_change(
        unless<api::CSIDriver>([](const auto& a, const auto& b) { return a.spec == b.spec; }, again));
    informers_.csi_storage_capacities.on_change(
        [this](const api::CSIStorageCapacity*, const api::CSIStorageCapacity*) {
            if (!waiting_.empty()) changed();
        });
    informers_.daemon_sets.on_change(
        unless<api::DaemonSet>([](const auto& a, const auto& b) { return a.spec == b.spec; }, again));
}

void ProvisioningReconciler::on_pod(const api::Pod* before, const api::Pod* after) {
    const auto& pod = after ? *after : *before;
    const bool waited = before && is_unschedulable(*before);
    const bool waits = after && is_unschedulable(*after);
    if (waits && !waited) {
        waiting_.try_emplace(pod.metadata.uid, Waiting{clock_.now(), {}});
        window_.note_demand(clock_.now());
        queue_->add(the_key());
    } else if (waited && !waits) {
        waiting_.erase(pod.metadata.uid);
        changed();
    } else if (is_drainable(pod) && any_headroom()) {
        const bool moved = !before || !after || before->spec.nodeName != after->spec.nodeName;
        if (moved) changed();
    }
}

bool ProvisioningReconciler::any_headroom() const {
    for (const auto& [key, pool] : informers_.pools.store().all())
        if (pool->spec.scaleUp.headroom != api::v1alpha1::Headroom{}) return true;
    return false;
}

}  // namespace controllers::provisioning
