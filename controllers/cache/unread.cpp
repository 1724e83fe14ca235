#include "controllers/cache/unread.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "api/names.hpp"
#include "api/size.hpp"
#include "bootstrap/approval.hpp"
#include "controllers/cache/preemption.hpp"

namespace controllers {

namespace {

using Names = std::initializer_list<std::string_view>;

// Moves the kept elements to a new list. A shortened or cleared list, or one
// assigned to, would keep its memory.
template <class T, class Predicate>
void forget_if(api::Shared<std::vector<T>>& list, Predicate is_unread) {
    if (list.empty()) return list.reset();
    std::vector<T> kept;
    for (auto& element : *list)
        if (!is_unread(element)) kept.push_back(std::move(element));
    kept.shrink_to_fit();
    list = std::move(kept);
}

template <class T>
void replace(T& value, T by) {
    std::swap(value, by);
}

void keep_annotations(api::ObjectMeta& metadata, Names read) {
    if (metadata.annotations.empty()) return metadata.annotations.reset();
    std::erase_if(*metadata.annotations,
                  [&](const auto& entry) { return std::ranges::find(read, entry.first) == read.end(); });
}

// Removes foreign annotations, other owners and all finalizers; finalizers of others do not concern us.
void forget_foreign(api::ObjectMeta& metadata, Names annotations = {}) {
    keep_annotations(metadata, annotations);
    api::forget_other_owners(metadata);
    metadata.finalizers.reset();
}

// Serves kinds that nothing selects by labels.
void forget_foreign_and_labels(api::ObjectMeta& metadata, Names annotations = {}) {
    forget_foreign(metadata, annotations);
    metadata.labels.reset();
}

void forget_settled_resources(api::Pod& pod) {
    const auto is_settled = [](const api::ContainerStatus& status,
                               const std::vector<api::Container>& containers) {
        const auto found = std::ranges::find(containers, status.name, &api::Container::name);
        if (!status.resources || found == containers.end()) return true;
        const auto& requests = found->resources.requests;
        return status.allocatedResources == requests && status.resources->requests == requests;
    };
    const auto& spec = std::as_const(pod.spec);
    forget_if(pod.status.containerStatuses,
              [&](const auto& status) { return is_settled(status, spec.containers); });
    forget_if(pod.status.initContainerStatuses,
              [&](const auto& status) { return is_settled(status, spec.initContainers); });
    if (!pod.spec.resources) {
        pod.status.resources.reset();
        pod.status.allocatedResources.reset();
    }
}

bool is_read_condition(const api::Condition& condition) {
    if (condition.type == conditions::kPodResizePending || condition.type == conditions::kReady ||
        is_preemption(condition))
        return true;
    return condition.type == conditions::kPodScheduled && condition.status != ConditionStatus::True;
}

// Keeps only whether the pod is Ready.
void forget_why(api::Condition& condition) {
    replace(condition, {std::string(conditions::kReady), condition.status, {}, {}, {}, {}});
}

void forget_unread(api::PodSpec& spec) {
    forget_if(spec.volumes, [](const api::Volume& volume) {
        return !volume.persistentVolumeClaim && !volume.emptyDir && !volume.hostPath && !volume.ephemeral;
    });
    if (spec.volumes.empty()) return;
    for (auto& volume : *spec.volumes)
        if (volume.ephemeral && volume.ephemeral->volumeClaimTemplate)
            replace(volume.ephemeral->volumeClaimTemplate->metadata, {});
}

}  // namespace

void forget_unread(api::Pod& pod) {
    using namespace api::annotations;
    forget_foreign(pod.metadata,
                   {kMirrorPod, kSafeToEvict, kDoNotDisrupt, kKarpenterDoNotDisrupt, kVolcanoGroup});
    forget_settled_resources(pod);
    forget_if(pod.status.conditions, [](const auto& condition) { return !is_read_condition(condition); });
    if (!pod.status.conditions.empty())
        for (auto& condition : *pod.status.conditions)
            if (condition.type == conditions::kReady) forget_why(condition);
    forget_unread(pod.spec);
}

void forget_unread(api::Node& node) {
    node.metadata.ownerReferences.reset();
}

void forget_unread(api::DaemonSet& daemon_set) {
    forget_foreign_and_labels(daemon_set.metadata, {api::annotations::kTemplateGeneration});
    forget_foreign(daemon_set.spec.template_.metadata);
    forget_unread(daemon_set.spec.template_.spec);
}

void forget_unread(api::Namespace& namespace_) {
    forget_foreign(namespace_.metadata);
}

void forget_unread(api::LimitRange& limits) {
    forget_foreign_and_labels(limits.metadata);
}

void forget_unread(api::RuntimeClass& runtime_class) {
    forget_foreign_and_labels(runtime_class.metadata);
}

void forget_unread(api::PersistentVolume& volume) {
    forget_foreign(volume.metadata);
}

void forget_unread(api::PersistentVolumeClaim& claim) {
    using namespace api::annotations;
    forget_foreign_and_labels(claim.metadata, {kSelectedNode, kLocalData});
}

void forget_unread(api::StorageClass& storage_class) {
    using namespace api::annotations;
    forget_foreign_and_labels(storage_class.metadata,
                              {kDefaultStorageClass, kBetaDefaultStorageClass, kLocalData});
}

void forget_unread(api::CSIDriver& driver) {
    forget_foreign_and_labels(driver.metadata);
}

void forget_unread(api::CSIStorageCapacity& capacity) {
    forget_foreign_and_labels(capacity.metadata);
}

void forget_unread(api::CSINode& node) {
    forget_foreign_and_labels(node.metadata);
}

void forget_unread(api::VolumeAttachment& attachment) {
    forget_foreign_and_labels(attachment.metadata);
}

void forget_unread(api::PodDisruptionBudget& budget) {
    forget_foreign_and_labels(budget.metadata);
}

void forget_unread(api::CertificateSigningRequest& request) {
    forget_foreign_and_labels(request.metadata);
    replace(request.spec.request.value, {});
    replace(request.spec.usages, {});
    if (!bootstrap::decided(request)) return;
    const auto& first = request.status.conditions.front();
    replace(request.status.conditions, {{first.type, first.status, {}, {}}});
}

void forget_unread(NodeSmithProvider& provider) {
    api::forget_of_others(provider.metadata);
}

void forget_unread(NodeSmithPool& pool) {
    api::forget_of_others(pool.metadata);
}

void forget_unread(NodeSmithClaim& claim) {
    api::forget_of_others(claim.metadata);
}

void forget_unread(NodeSmithControlPlane& control_plane) {
    api::forget_of_others(control_plane.metadata);
}

void forget_unread(NodeSmithHost& host) {
    api::forget_of_others(host.metadata);
}

}  // namespace controllers
