#include "scheduling/volumes.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "scheduling/node_digest.hpp"

namespace scheduling {

namespace {

constexpr std::string_view kZoneLabels[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                                            "failure-domain.beta.kubernetes.io/zone",
                                            "failure-domain.beta.kubernetes.io/region"};
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// Zones in a volume's label are joined by "__".
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
    return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& mode) {
        return std::find(offered.begin(), offered.end(), mode) != offered.end();
    });
}

bool is_large_enough(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
    const auto wanted = claim.spec.resources.requests.find("storage");
    if (wanted == claim.spec.resources.requests.end()) return true;
    const auto offered = volume.spec.capacity.find("storage");
    return offered != volume.spec.capacity.end() && offered->second >= wanted->second;
}

}  // namespace

VolumeIndex::VolumeIndex(const Snapshot& snapshot) {
    for (const auto& claim : snapshot.volumes.claims) claims_[api::key_of(*claim)] = claim.get();
    for (const auto& volume : snapshot.volumes.volumes) volumes_[volume->metadata.name] = volume.get();
    for (const auto& storage_class : snapshot.volumes.classes) {
        classes_[storage_class->metadata.name] = storage_class.get();
        const auto* mark =
            api::find(storage_class->metadata.annotations, api::annotations::kDefaultStorageClass);
        if (mark && *mark == "true") default_class_ = storage_class.get();
    }
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
        if (volume.persistentVolumeClaim)
            add_claim(demand, pod, volume.persistentVolumeClaim->claimName, false);
        else if (volume.ephemeral)
            add_claim(demand, pod, pod.metadata.name + "-" + volume.name, true);
    }
    std::sort(demand.attachments.begin(), demand.attachments.end());
    demand.attachments.erase(std::unique(demand.attachments.begin(), demand.attachments.end()),
                             demand.attachments.end());
    return demand;
}

void VolumeIndex::add_claim(VolumeDemand& demand, const api::Pod& pod, const std::string& name, bool is_own) {
    const auto found = claims_.find({pod.metadata.namespace_, name});
    if (found == claims_.end()) {
        demand.problem = "its volume claim " + name + (is_own ? " is not created yet" : " does not exist");
        return;
    }
    const auto& claim = *found->second;
    if (claim.metadata.deletionTimestamp)
        demand.problem = "its volume claim " + name + " is being deleted";
    else if (claim.status.phase == "Lost")
        demand.problem = "its volume claim " + name + " has lost its volume";
    else if (!claim.spec.volumeName.empty())
        add_bound(demand, claim);
    else
        add_unbound(demand, claim);
}

void VolumeIndex::add_selector(VolumeDemand& demand, std::vector<api::NodeSelectorTerm> terms) {
    made_.push_back({std::move(terms)});
    demand.any_of.push_back(&made_.back());
}

void VolumeIndex::add_bound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim) {
    const auto found = volumes_.find(claim.spec.volumeName);
    if (found == volumes_.end()) {
        demand.problem = "volume " + claim.spec.volumeName + " does not exist";
        return;
    }
    const auto& volume = *found->second;
    if (volume.spec.nodeAffinity && volume.spec.nodeAffinity->required)
        demand.any_of.push_back(&*volume.spec.nodeAffinity->required);
    for (const auto key : kZoneLabels) {
        const auto* zones = api::find(volume.metadata.labels, key);
        if (!zones) continue;
        const std::string name(key);
        add_selector(demand, {term_of({name, api::SelectorOperator::In, split_zones(*zones)}),
                              term_of({name, api::SelectorOperator::DoesNotExist, {}})});
    }
    if (volume.spec.csi) demand.attachments.push_back({volume.spec.csi->driver, volume.metadata.name});
}

void VolumeIndex::add_unbound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim) {
    const auto* storage_class = class_of(claim);
    if (!storage_class) {
        demand.problem = "volume claim " + claim.metadata.name + " is not bound and has no storage class";
        return;
    }
    if (storage_class->volumeBindingMode != api::VolumeBindingMode::WaitForFirstConsumer) {
        demand.problem = "volume claim " + claim.metadata.name + " is not bound yet";
        return;
    }
    if (const auto* node = api::find(claim.metadata.annotations, api::annotations::kSelectedNode)) {
        api::NodeSelectorTerm term;
        term.matchFields.push_back({"metadata.name", api::SelectorOperator::In, {*node}});
        add_selector(demand, {std::move(term)});
    }
    if (storage_class->provisioner == kNoProvisioner)
        return add_static(demand, claim, storage_class->metadata.name);
    if (!storage_class->allowedTopologies.empty()) {
        std::vector<api::NodeSelectorTerm> terms;
        for (const auto& topology : storage_class->allowedTopologies) {
            auto& term = terms.emplace_back();
            for (const auto& label : topology.matchLabelExpressions)
                term.matchExpressions.push_back({label.key, api::SelectorOperator::In, label.values});
        }
        add_selector(demand, std::move(terms));
    }
    demand.attachments.push_back(
        {storage_class->provisioner, claim.metadata.namespace_ + "/" + claim.metadata.name});
}

// Volumes that somebody made beforehand, as local ones are.
void VolumeIndex::add_static(VolumeDemand& demand, const api::PersistentVolumeClaim& claim,
                             const std::string& class_name) {
    std::vector<api::NodeSelectorTerm> terms;
    for (const auto& [name, volume] : volumes_) {
        if (volume->spec.storageClassName != class_name || volume->spec.claimRef) continue;
        if (!is_superset(volume->spec.accessModes, claim.spec.accessModes)) continue;
        if (!is_large_enough(*volume, claim)) continue;
        if (!volume->spec.nodeAffinity || !volume->spec.nodeAffinity->required) return;  // reached everywhere
        const auto& alternatives = volume->spec.nodeAffinity->required->nodeSelectorTerms;
        terms.insert(terms.end(), alternatives.begin(), alternatives.end());
    }
    if (terms.empty())
        demand.problem = "no volume is available for its volume claim " + claim.metadata.name;
    else
        add_selector(demand, std::move(terms));
}

std::set<Attachment>& AttachLimits::attached(std::size_t row) {
    const auto [entry, added] = attached_.try_emplace(row);
    if (added)
        for (const auto& pod : rows_.node(row).pods)
            if (!is_finished(*pod))
                for (auto& attachment : volumes_.demand_of(*pod).attachments)
                    entry->second.insert(std::move(attachment));
    return entry->second;
}

bool AttachLimits::hold(std::size_t row, const std::vector<Attachment>& wanted) {
    if (wanted.empty() || row >= rows_.nodes() || !rows_.node(row).csi) return true;
    const auto& before = attached(row);
    for (const auto& driver : rows_.node(row).csi->spec.drivers) {
        if (!driver.allocatable || !driver.allocatable->count) continue;
        const auto is_of_driver = [&](const Attachment& each) { return each.driver == driver.name; };
        const auto more = std::count_if(wanted.begin(), wanted.end(), [&](const Attachment& each) {
            return is_of_driver(each) && !before.contains(each);
        });
        const auto count = std::count_if(before.begin(), before.end(), is_of_driver) + more;
        if (more > 0 && count > *driver.allocatable->count) return false;
    }
    return true;
}

void AttachLimits::attach(std::size_t row, const std::vector<Attachment>& attachments) {
    if (row < rows_.nodes() && rows_.node(row).csi)
        attached(row).insert(attachments.begin(), attachments.end());
}

}  // namespace scheduling
