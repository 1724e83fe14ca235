#include "scheduling/volumes/volumes.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "base/text.hpp"
#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/pods/claim_name.hpp"

namespace scheduling {

namespace {

constexpr std::string_view kZoneLabels[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                                            "failure-domain.beta.kubernetes.io/zone",
                                            "failure-domain.beta.kubernetes.io/region"};
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// Splits the zones in a volume's label, which are joined by "__".
std::vector<std::string> split_zones(const std::string& text) {
    std::vector<std::string> zones;
    for (std::size_t start = 0; start <= text.size();) {
        const auto end = std::min(text.find("__", start), text.size());
        zones.push_back(text.substr(start, end - start));
        start = end + 2;
    }
    return zones;
}

api::NodeSelectorTerm term_of(api::SelectorRequirement requirement) {
    api::NodeSelectorTerm term;
    term.matchExpressions.push_back(std::move(requirement));
    return term;
}

bool is_superset(const std::vector<std::string>& offered, const std::vector<std::string>& wanted) {
    return std::ranges::all_of(
        wanted, [&](const std::string& mode) { return std::ranges::find(offered, mode) != offered.end(); });
}

api::Quantity storage_of(const api::ResourceList& list) {
    const auto found = list.find("storage");
    return found == list.end() ? api::Quantity() : found->second;
}

std::string mode_of(const std::string& volume_mode) {
    return volume_mode.empty() ? "Filesystem" : volume_mode;
}

bool is_promised_to(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
    const auto& owner = volume.spec.claimRef;
    return owner && owner->namespace_ == claim.metadata.namespace_ && owner->name == claim.metadata.name &&
           (owner->uid.empty() || owner->uid == claim.metadata.uid);
}

bool can_hold(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
    return !volume.metadata.deletionTimestamp &&
           mode_of(volume.spec.volumeMode) == mode_of(claim.spec.volumeMode) &&
           storage_of(volume.spec.capacity) >= storage_of(claim.spec.resources.requests);
}

bool is_free_for(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim,
                 const std::string& class_name) {
    return !volume.spec.claimRef && volume.status.phase == "Available" &&
           volume.spec.storageClassName == class_name &&
           is_superset(volume.spec.accessModes, claim.spec.accessModes) &&
           (!claim.spec.selector || api::matches(*claim.spec.selector, volume.metadata.labels));
}

bool is_exclusive(const api::PersistentVolumeClaim& claim) {
    const auto& modes = claim.spec.accessModes;
    return std::ranges::find(modes, "ReadWriteOncePod") != modes.end();
}

}  // namespace

VolumeIndex::VolumeIndex(const Snapshot& snapshot) : snapshot_(snapshot) {
    for (const auto& claim : snapshot.volumes.claims) claims_[api::key_of(*claim)] = claim.get();
    for (const auto& volume : snapshot.volumes.volumes) volumes_[volume->metadata.name] = volume.get();
    for (const auto& driver : snapshot.volumes.drivers)
        if (driver->spec.storageCapacity) drivers_with_capacity_.insert(driver->metadata.name);
    for (const auto& storage_class : snapshot.volumes.classes)
        classes_[storage_class->metadata.name] = storage_class.get();
    default_class_ = default_class(snapshot.volumes.classes);
}

// Source: k8s.io/kubernetes/pkg/volume/util (GetDefaultClass).
const api::StorageClass* default_class(
    const std::vector<std::shared_ptr<const api::StorageClass>>& storage_classes) {
    const auto is_marked = [](const api::StorageClass& storage_class, std::string_view annotation) {
        const auto* mark = api::find(storage_class.metadata.annotations, annotation);
        return mark && *mark == "true";
    };
    const api::StorageClass* youngest = nullptr;
    for (const auto& each : storage_classes) {
        if (!is_marked(*each, api::annotations::kDefaultStorageClass) &&
            !is_marked(*each, api::annotations::kBetaDefaultStorageClass))
            continue;
        const bool is_younger = !youngest ||
                                each->metadata.creationTimestamp > youngest->metadata.creationTimestamp ||
                                (each->metadata.creationTimestamp == youngest->metadata.creationTimestamp &&
                                 each->metadata.name < youngest->metadata.name);
        if (is_younger) youngest = each.get();
    }
    return youngest;
}

std::optional<Attachment> VolumeIndex::attachment_of(const std::string& volume) const {
    const auto found = volumes_.find(volume);
    if (found == volumes_.end() || !found->second->spec.csi) return std::nullopt;
    return Attachment{found->second->spec.csi->driver, volume};
}

const api::NodeSelector* affinity_of(const api::PersistentVolume& volume) {
    return volume.spec.nodeAffinity && volume.spec.nodeAffinity->required
               ? &*volume.spec.nodeAffinity->required
               : nullptr;
}

const api::StorageClass* VolumeIndex::class_of(const api::PersistentVolumeClaim& claim) const {
    if (!claim.spec.storageClassName) return default_class_;
    const auto found = classes_.find(*claim.spec.storageClassName);
    return found == classes_.end() ? nullptr : found->second;
}

VolumeDemand VolumeIndex::demand_of(const api::Pod& pod) {
    VolumeDemand demand;
    for (const auto& volume : pod.spec.volumes) {
        if (!demand.problem.empty()) break;
        const auto name = claim_name_of(pod, volume);
        if (name) add_claim(demand, pod, *name, !volume.persistentVolumeClaim);
    }
    for (const auto* claim : demand.exclusives) {
        const auto* user = user_of(*claim);
        if (demand.problem.empty() && user && user != &pod)
            demand.problem = "its volume claim " + claim->metadata.name + " is in use by pod " +
                             user->metadata.name + ", and only one pod may use it (ReadWriteOncePod)";
    }
    std::ranges::sort(demand.choices, [](const StaticBinding& a, const StaticBinding& b) {
        return storage_of(a.claim->spec.resources.requests) < storage_of(b.claim->spec.resources.requests);
    });
    std::ranges::sort(demand.attachments);
    demand.attachments.erase(std::unique(demand.attachments.begin(), demand.attachments.end()),
                             demand.attachments.end());
    return demand;
}

// Ignores pods of leaving nodes, because they take their claims along.
const api::Pod* VolumeIndex::user_of(const api::PersistentVolumeClaim& claim) {
    if (!users_) {
        users_.emplace();
        for (const auto& node : snapshot_.nodes) {
            if (node.availability == Availability::leaving) continue;
            for (const auto& pod : node.pods)
                for (const auto& volume : pod->spec.volumes)
                    if (volume.persistentVolumeClaim && !is_finished(*pod))
                        users_->emplace(
                            api::ObjectKey(pod->metadata.namespace_, volume.persistentVolumeClaim->claimName),
                            pod.get());
        }
    }
    const auto found = users_->find(api::key_of(claim));
    return found == users_->end() ? nullptr : found->second;
}

void VolumeIndex::add_claim(VolumeDemand& demand, const api::Pod& pod, const std::string& name, bool is_own) {
    const auto found = claims_.find({pod.metadata.namespace_, name});
    if (found == claims_.end()) {
        demand.problem = "its volume claim " + name +
                         (is_own ? " is not created yet: see kubectl describe pod " + pod.metadata.name
                                 : " does not exist: create it, or correct the pod's volumes");
        return;
    }
    const auto& claim = *found->second;
    if (is_exclusive(claim)) demand.exclusives.push_back(&claim);
    const auto* owner = api::controller_of(claim.metadata);
    if (is_own && (!owner || owner->uid != pod.metadata.uid))
        demand.problem = "its volume claim " + name +
                         " was not created for it: delete the claim, or rename the pod's ephemeral volume";
    else if (claim.metadata.deletionTimestamp)
        demand.problem =
            "its volume claim " + name + " is being deleted: if that lasts, its finalizers say what uses it";
    else if (claim.status.phase == "Lost")
        demand.problem =
            "its volume claim " + name + " has lost its volume: restore the volume, or create the claim anew";
    else if (is_own && !pod.spec.nodeName.empty())
        add_made_anew(demand, claim);
    else if (!claim.spec.volumeName.empty())
        add_bound(demand, claim);
    else
        add_unbound(demand, claim);
}

void VolumeIndex::add_tie(VolumeDemand& demand, std::vector<api::NodeSelectorTerm> terms,
                          const api::PersistentVolumeClaim& claim, const api::PersistentVolume* volume) {
    made_.push_back({std::move(terms)});
    demand.ties.push_back({&made_.back(), &claim, volume});
}

bool VolumeIndex::is_node(const std::string& name) {
    if (nodes_.empty())
        for (const auto& node : snapshot_.nodes) nodes_.insert(node.node->metadata.name);
    return nodes_.contains(name);
}

void VolumeIndex::add_bound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim) {
    const auto found = volumes_.find(claim.spec.volumeName);
    if (found == volumes_.end()) {
        demand.problem = "volume " + claim.spec.volumeName + " of its claim " + claim.metadata.name +
                         " does not exist: restore it, or create the claim anew";
        return;
    }
    const auto& volume = *found->second;
    if (const auto* required = affinity_of(volume)) demand.ties.push_back({required, &claim, &volume});
    for (const auto key : kZoneLabels) {
        const auto* zones = api::find(volume.metadata.labels, key);
        if (!zones) continue;
        const std::string name(key);
        add_tie(demand,
                {term_of({name, api::SelectorOperator::In, split_zones(*zones)}),
                 term_of({name, api::SelectorOperator::DoesNotExist, {}})},
                claim, &volume);
    }
    if (volume.spec.csi) demand.attachments.push_back({volume.spec.csi->driver, volume.metadata.name});
}

void VolumeIndex::add_unbound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim) {
    const auto* storage_class = class_of(claim);
    if (!storage_class) {
        const auto& name = claim.spec.storageClassName;
        demand.problem = "volume claim " + claim.metadata.name + " is not bound and " +
                         (name && !name->empty()
                              ? "its storage class " + *name + " does not exist: create it, or name another"
                          : name ? "waits for a volume that somebody creates, as it wants no storage class "
                                   "(storageClassName: \"\")"
                                 : "has no storage class, and none is marked as the default: name one, or "
                                   "mark one with storageclass.kubernetes.io/is-default-class");
        return;
    }
    if (storage_class->volumeBindingMode != api::VolumeBindingMode::WaitForFirstConsumer) {
        demand.problem = "volume claim " + claim.metadata.name + " is not bound yet: its storage class " +
                         storage_class->metadata.name + " binds it at once (Immediate), so look at driver " +
                         storage_class->provisioner + " (kubectl describe pvc " + claim.metadata.name + ")";
        return;
    }
    if (const auto* node = api::find(claim.metadata.annotations, api::annotations::kSelectedNode)) {
        if (!is_node(*node))
            demand.problem = "its volume claim " + claim.metadata.name + " waits for a volume on node " +
                             *node + ", which does not exist: remove the claim's annotation " +
                             std::string(api::annotations::kSelectedNode) + ", or delete the claim";
        api::NodeSelectorTerm term;
        term.matchFields.push_back({"metadata.name", api::SelectorOperator::In, {*node}});
        add_tie(demand, {std::move(term)}, claim);
    }
    add_by_class(demand, claim, *storage_class);
    if (storage_class->provisioner != kNoProvisioner)
        demand.attachments.push_back(
            {storage_class->provisioner, claim.metadata.namespace_ + "/" + claim.metadata.name});
}

// Handles a claim that ends with the pod. If the pod returns, another volume is provisioned for it.
void VolumeIndex::add_made_anew(VolumeDemand& demand, const api::PersistentVolumeClaim& claim) {
    const auto volume = volumes_.find(claim.spec.volumeName);
    if (volume != volumes_.end() && volume->second->spec.csi)
        demand.attachments.push_back({volume->second->spec.csi->driver, volume->second->metadata.name});
    if (const auto* storage_class = class_of(claim)) add_by_class(demand, claim, *storage_class);
}

// Adds the class's demands on the node where a volume is provisioned.
void VolumeIndex::add_by_class(VolumeDemand& demand, const api::PersistentVolumeClaim& claim,
                               const api::StorageClass& storage_class) {
    if (storage_class.provisioner == kNoProvisioner)
        return add_static(demand, claim, storage_class.metadata.name);
    if (!storage_class.allowedTopologies.empty()) {
        std::vector<api::NodeSelectorTerm> terms;
        for (const auto& topology : storage_class.allowedTopologies) {
            auto& term = terms.emplace_back();
            for (const auto& label : topology.matchLabelExpressions)
                term.matchExpressions.push_back({label.key, api::SelectorOperator::In, label.values});
        }
        add_tie(demand, std::move(terms), claim);
    }
    const auto& requests = claim.spec.resources.requests;
    if (drivers_with_capacity_.contains(storage_class.provisioner) && requests.contains("storage"))
        demand.provisions.push_back({&claim, &storage_class, storage_of(requests)});
}

// Says why the volumes of the class cannot be the claim's; empty: it has none.
std::string VolumeIndex::why_unusable(const api::PersistentVolumeClaim& claim,
                                      const std::string& class_name) const {
    constexpr std::size_t kMostNamed = 3;
    std::vector<std::string> faults;
    for (const auto& [name, volume] : volumes_) {
        if (volume->spec.storageClassName != class_name) continue;
        const auto size = storage_of(volume->spec.capacity);
        const auto wanted = storage_of(claim.spec.resources.requests);
        if (volume->status.phase == "Released")
            faults.push_back(name + " is Released");
        else if (volume->spec.claimRef)
            faults.push_back(name + " is taken");
        else if (size < wanted)
            faults.push_back(name + " has a size of " + size.str() + ", smaller than " + wanted.str());
        else
            faults.push_back(name + " has other access modes, another mode or other labels");
    }
    return faults.empty() ? "" : " (volume " + base::joined_first(faults, kMostNamed) + ")";
}

// Adds pre-provisioned volumes, such as local ones: the volume reserved for the claim, otherwise the
// smallest. Source: k8s.io/component-helpers/storage/volume (FindMatchingVolume).
void VolumeIndex::add_static(VolumeDemand& demand, const api::PersistentVolumeClaim& claim,
                             const std::string& class_name) {
    StaticBinding choice{&claim, {}};
    for (const auto& [name, volume] : volumes_) {
        if (!can_hold(*volume, claim)) continue;
        if (claim.spec.volumeName.empty() && is_promised_to(*volume, claim)) {
            choice.volumes = {volume};
            break;
        }
        if (is_free_for(*volume, claim, class_name)) choice.volumes.push_back(volume);
    }
    if (choice.volumes.empty()) {
        demand.problem = "no volume is available for its volume claim " + claim.metadata.name +
                         ", whose storage class " + class_name +
                         " does not create any: create a PersistentVolume" + why_unusable(claim, class_name);
        return;
    }
    std::ranges::sort(choice.volumes, [](const auto* a, const auto* b) {
        const auto left = storage_of(a->spec.capacity);
        const auto right = storage_of(b->spec.capacity);
        return left == right ? a->metadata.name < b->metadata.name : left < right;
    });
    std::vector<api::NodeSelectorTerm> terms;
    bool is_reached_everywhere = false;
    for (const auto* volume : choice.volumes) {
        const auto* required = affinity_of(*volume);
        is_reached_everywhere = is_reached_everywhere || !required;
        if (required)
            terms.insert(terms.end(), required->nodeSelectorTerms.begin(), required->nodeSelectorTerms.end());
    }
    if (!is_reached_everywhere) add_tie(demand, std::move(terms), claim);
    demand.choices.push_back(std::move(choice));
}

}  // namespace scheduling
