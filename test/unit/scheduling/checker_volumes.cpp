#include <algorithm>
#include <set>

#include "test/unit/scheduling/checker_cluster.hpp"

namespace checker {

namespace {

template <class T>
const T* named(const std::vector<std::shared_ptr<const T>>& list, const std::string& name,
               const std::string& space = {}) {
    for (const auto& each : list)
        if (each->metadata.name == name && each->metadata.namespace_ == space) return each.get();
    return nullptr;
}

std::vector<const api::PersistentVolumeClaim*> claims_of(const CheckedCluster& cluster, const api::Pod& pod) {
    std::vector<const api::PersistentVolumeClaim*> claims;
    for (const auto& volume : pod.spec.volumes)
        if (volume.persistentVolumeClaim)
            claims.push_back(named(cluster.snapshot.volumes.claims, volume.persistentVolumeClaim->claimName,
                                   pod.metadata.namespace_));
    return claims;
}

bool is_in_topology(const api::TopologySelectorTerm& term, const CheckedNode& node) {
    return std::all_of(term.matchLabelExpressions.begin(), term.matchLabelExpressions.end(),
                       [&](const auto& label) {
                           const auto* value = api::find(node.labels, label.key);
                           return value && std::count(label.values.begin(), label.values.end(), *value) > 0;
                       });
}

std::string claim_refusal(const CheckedCluster& cluster, const CheckedNode& node,
                          const api::PersistentVolumeClaim* claim) {
    const auto& volumes = cluster.snapshot.volumes;
    if (!claim) return "cannot serve a volume claim that does not exist";
    if (!claim->spec.volumeName.empty()) {
        const auto* volume = named(volumes.volumes, claim->spec.volumeName);
        if (!volume) return "cannot serve a volume that does not exist";
        const auto& affinity = volume->spec.nodeAffinity;
        if (affinity && affinity->required && !api::matches(*affinity->required, node.labels, node.name))
            return "cannot reach volume " + volume->metadata.name;
        return {};
    }
    const auto* storage_class = named(volumes.classes, claim->spec.storageClassName.value_or(""));
    if (!storage_class || storage_class->volumeBindingMode != api::VolumeBindingMode::WaitForFirstConsumer)
        return "cannot serve an unbound volume claim";
    const auto& allowed = storage_class->allowedTopologies;
    const bool suits = allowed.empty() || std::any_of(allowed.begin(), allowed.end(), [&](const auto& term) {
                           return is_in_topology(term, node);
                       });
    return suits ? "" : "is where no volume can be made";
}

void collect(std::set<std::string>& attached, const CheckedCluster& cluster, const api::Pod& pod) {
    for (const auto* claim : claims_of(cluster, pod))
        if (claim) attached.insert(claim->metadata.namespace_ + "/" + claim->metadata.name);
}

}  // namespace

// The function assumes that every claim is one volume, and that all are of one driver.
std::string volume_refusal(const CheckedCluster& cluster, const CheckedNode& node, const api::Pod& pod) {
    for (const auto* claim : claims_of(cluster, pod))
        if (auto text = claim_refusal(cluster, node, claim); !text.empty()) return text;
    if (!node.volume_limit || claims_of(cluster, pod).empty()) return {};
    std::set<std::string> attached;
    for (const auto* other : node.pods) collect(attached, cluster, *other);
    collect(attached, cluster, pod);
    const auto limit = static_cast<std::size_t>(*node.volume_limit);
    return attached.size() > limit ? "cannot attach so many volumes" : "";
}

}  // namespace checker
