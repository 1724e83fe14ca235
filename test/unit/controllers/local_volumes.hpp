// Builds volumes on the disks of nodes, as provisioners make them.
#pragma once

#include <string>
#include <vector>

#include "api/core.hpp"
#include "test/support/fake_api_server.hpp"

namespace test {

inline constexpr const char* kLocalClass = "local-path";

inline api::NodeSelectorTerm term_in(const std::string& key, std::vector<std::string> values) {
    api::NodeSelectorTerm term;
    term.matchExpressions.push_back({key, api::SelectorOperator::In, std::move(values)});
    return term;
}

// Returns a volume that is bound to the claim default/data-NAME unless changed. `terms` is its node affinity.
inline api::PersistentVolume volume_at(const std::string& name, std::vector<api::NodeSelectorTerm> terms) {
    api::PersistentVolume volume;
    volume.metadata.name = name;
    volume.spec.storageClassName = kLocalClass;
    volume.spec.persistentVolumeReclaimPolicy = "Delete";
    volume.spec.claimRef = {"", "", "default", "data-" + name, "uid-of-data-" + name, ""};
    volume.spec.nodeAffinity.emplace();
    volume.spec.nodeAffinity->required.emplace();
    volume.spec.nodeAffinity->required->nodeSelectorTerms = std::move(terms);
    volume.status.phase = "Bound";
    return volume;
}
inline api::PersistentVolume volume_on(const std::string& name, const std::string& node) {
    return volume_at(name, {term_in("kubernetes.io/hostname", {node})});
}

// Returns a volume that nobody uses.
inline api::PersistentVolume free_volume_on(const std::string& name, const std::string& node) {
    auto volume = volume_on(name, node);
    volume.spec.claimRef.reset();
    volume.status.phase = "Available";
    return volume;
}

inline api::PersistentVolumeClaim claim_of(const api::PersistentVolume& volume) {
    api::PersistentVolumeClaim claim;
    claim.metadata.namespace_ = volume.spec.claimRef->namespace_;
    claim.metadata.name = volume.spec.claimRef->name;
    claim.metadata.uid = volume.spec.claimRef->uid;
    claim.spec.storageClassName = volume.spec.storageClassName;
    claim.spec.volumeName = volume.metadata.name;
    claim.status.phase = "Bound";
    return claim;
}

// Puts both objects; the volume gets the UID of the claim.
inline void put_bound(fake::ApiServer& server, api::PersistentVolume volume,
                      const api::PersistentVolumeClaim& claim) {
    volume.spec.claimRef->uid = server.put(claim).metadata.uid;
    server.put(volume);
}
inline void put_bound(fake::ApiServer& server, const api::PersistentVolume& volume) {
    put_bound(server, volume, claim_of(volume));
}
// Puts a volume on the node's disk, with its claim.
inline void put_local_volume(fake::ApiServer& server, const std::string& name, const std::string& node) {
    put_bound(server, volume_on(name, node));
}

}  // namespace test
