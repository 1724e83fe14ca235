#include "operator/plan/written_world.hpp"

#include <utility>

#include "api/json.hpp"
#include "api/names.hpp"

namespace kubenodesmith {

namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// Returns the topologies in which the class allows its volumes.
std::vector<api::NodeSelectorTerm> terms_of(const api::StorageClass& storage_class) {
    std::vector<api::NodeSelectorTerm> terms;
    for (const auto& topology : storage_class.allowedTopologies) {
        auto& term = terms.emplace_back();
        for (const auto& label : topology.matchLabelExpressions)
            term.matchExpressions.push_back({label.key, api::SelectorOperator::In, label.values});
    }
    return terms;
}

}  // namespace

WrittenWorld::WrittenWorld(controllers::Informers& informers, const PriorityClasses& priorities)
    : informers_(informers),
      priorities_(priorities),
      admission_(informers.limit_ranges.store().values(), informers.runtime_classes.store().values()) {}

void WrittenWorld::note_refusal(const std::string& title, const std::string& what,
                                const std::string& refusal) {
    if (!refusal.empty())
        notes_.push_back(title + " is not counted: the API server would refuse " + what + ": " + refusal);
}

void WrittenWorld::take_claim(api::PersistentVolumeClaim claim, const std::string& title) {
    note_refusal(title, "it", add(std::move(claim)));
}

void WrittenWorld::take_pod(const boost::json::object& document) {
    note_refusal(title_of(document), "it", add(document));
}

void WrittenWorld::take_workload(const boost::json::object& document) {
    auto workload = workload_of(document, bounds_);
    const auto title = title_of(document);
    std::string refusal;
    for (auto& claim : workload.volume_claims)
        if (refusal.empty() && !informers_.persistent_volume_claims.store().get(api::key_of(claim)))
            refusal = add(std::move(claim));
    for (const auto& pod : workload.pods)
        if (refusal.empty()) refusal = add(pod);
    note_refusal(title, "its pods", refusal);
    if (is_cron_job(document) && is_written(document) && !workload.pods.empty() && refusal.empty())
        notes_.push_back(title + " counts as the pods of one run");
}

void WrittenWorld::look_at(const api::DaemonSet& daemon_set, const std::string& title) {
    auto pod = daemon_set.spec.template_.spec;
    note_refusal(title, "its pods", admission_.admit(daemon_set.metadata.namespace_, pod));
}

std::string WrittenWorld::add(const boost::json::object& document) {
    auto pod = decode_object<api::Pod>(document);
    auto refusal = admission_.admit(pod.metadata.namespace_, pod.spec);
    if (!refusal.empty()) return refusal;
    complete(pod);
    priorities_.complete(pod, document);
    refusal = add_ephemeral(pod);
    if (refusal.empty()) informers_.pods.observe(std::move(pod));
    return refusal;
}

// Adds the claims of generic ephemeral volumes. In a cluster, a controller creates them once the pod exists.
std::string WrittenWorld::add_ephemeral(const api::Pod& pod) {
    for (const auto& volume : *pod.spec.volumes) {
        if (!volume.ephemeral || !volume.ephemeral->volumeClaimTemplate) continue;
        api::PersistentVolumeClaim claim;
        claim.metadata.name = pod.metadata.name + "-" + volume.name;
        claim.metadata.namespace_ = pod.metadata.namespace_;
        if (informers_.persistent_volume_claims.store().get(api::key_of(claim))) continue;
        auto& owner = claim.metadata.ownerReferences->emplace_back();
        owner.kind = "Pod";
        owner.name = pod.metadata.name;
        owner.uid = pod.metadata.uid;
        owner.controller = true;
        claim.spec = volume.ephemeral->volumeClaimTemplate->spec;
        if (auto refusal = add(std::move(claim)); !refusal.empty()) return refusal;
    }
    return {};
}

std::string WrittenWorld::add(api::PersistentVolumeClaim claim) {
    auto refusal = admission_.limit_ranges().refusal(claim.metadata.namespace_, claim.spec);
    if (!refusal.empty()) return refusal;
    const auto* storage_class = class_of(claim);
    const bool is_bound_at_once = storage_class && claim.spec.volumeName.empty() &&
                                  storage_class->volumeBindingMode == api::VolumeBindingMode::Immediate &&
                                  storage_class->provisioner != kNoProvisioner;
    if (is_bound_at_once) bind_at_once(claim, *storage_class);
    informers_.persistent_volume_claims.observe(std::move(claim));
    return {};
}

const api::StorageClass* WrittenWorld::class_of(const api::PersistentVolumeClaim& claim) const {
    const auto& classes = informers_.storage_classes.store();
    if (claim.spec.storageClassName) return classes.get({"", *claim.spec.storageClassName}).get();
    for (const auto& [key, storage_class] : classes.all()) {
        const auto* mark =
            api::find(storage_class->metadata.annotations, api::annotations::kDefaultStorageClass);
        if (mark && *mark == "true") return storage_class.get();
    }
    return nullptr;
}

// Binds the claim to a new volume, anywhere its class allows. In a cluster, the driver creates such a volume
// before the pod is scheduled.
void WrittenWorld::bind_at_once(api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class) {
    api::PersistentVolume volume;
    volume.metadata.name = "of-" + claim.metadata.namespace_ + "-" + claim.metadata.name;
    volume.spec.csi.emplace().driver = storage_class.provisioner;
    volume.spec.storageClassName = storage_class.metadata.name;
    volume.spec.claimRef.emplace();
    volume.spec.claimRef->namespace_ = claim.metadata.namespace_;
    volume.spec.claimRef->name = claim.metadata.name;
    volume.status.phase = "Bound";
    if (auto terms = terms_of(storage_class); !terms.empty())
        volume.spec.nodeAffinity.emplace().required.emplace().nodeSelectorTerms = std::move(terms);
    claim.spec.volumeName = volume.metadata.name;
    claim.status.phase = "Bound";
    informers_.persistent_volumes.observe(std::move(volume));
}

}  // namespace kubenodesmith
