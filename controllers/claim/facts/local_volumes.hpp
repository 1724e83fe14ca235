// Describes PersistentVolumes whose data is on the disk of one node. Removing that node destroys the data.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controllers/cache/informers.hpp"

namespace controllers {

struct LocalVolume {
    enum class Fate {
        held,        // bound, and no one declared that its data may be lost
        disposable,  // bound, and its data may be lost: a person declared so, or its claim belongs to a pod
        released,    // its claim is gone, and its owner asked to keep the data (Retain)
    };
    std::string name;      // name of the PersistentVolume
    api::ObjectKey claim;  // its present or last PersistentVolumeClaim
    Fate fate = Fate::held;
    bool is_of_pod = false;  // the claim ends with its pod (generic ephemeral volume)
    // False: the claim was deleted recently, or the caches lack it.
    bool is_claim_known = true;
    bool is_unreadable = false;  // it cannot be decoded, and may be on the disk
};
using LocalVolumes = std::vector<LocalVolume>;
using VolumePlaces = std::vector<api::v1alpha1::VolumePlace>;

// Returns the volumes that can be used on this Node only, sorted by name. Their node affinity names the Node:
// by name, by hostname, or by the CSI driver's ID of the node. It names no other Node that is kept. Those
// that cannot be decoded count if they may be such. The Node may be a substitute for one that is gone.
// `recorded` has the names that it is known to have had.
LocalVolumes local_volumes_on(const Informers& informers, const api::Node& node,
                              const VolumePlaces& recorded = {});
// Returns the volumes of the claim's Node. If the Node is gone, its machine may still have the data.
LocalVolumes local_volumes_of(const Informers& informers, const NodeSmithClaim& claim, const api::Node* node);

// Returns the names other than its own that volumes may have for the claim's Node, for the claim's status.
// What the status has of drivers that are not registered now is kept.
VolumePlaces volume_places(const Informers& informers, const NodeSmithClaim& claim, const api::Node& node);

// Reports whether the pool's user, or someone who may edit the claim, gave up all data on the machine's disk.
bool gave_up_volumes(const NodeSmithPool* pool, const NodeSmithClaim& claim);
// Returns the volumes that hold the machine.
LocalVolumes held_among(const LocalVolumes& volumes, const NodeSmithPool* pool, const NodeSmithClaim& claim);
// Names the volumes for people; empty: none.
std::string named(const LocalVolumes& volumes);
// Describes what is lost when the claim's machine is removed; empty: nothing. Volumes that
// end with their pods are left out.
std::string lost_with(const NodeSmithClaim& claim, const LocalVolumes& volumes);
// Explains what a person can do about volumes that hold a node.
std::string how_to_release_volumes();

// Returns the UIDs of the Node's pods that use one of the volumes and so can run nowhere else. Pods with
// volumes that end with them are left out.
std::set<std::string> pods_tied_to(const Informers& informers, const std::string& node,
                                   const LocalVolumes& volumes);

// Reports whether the annotation on a PersistentVolumeClaim or StorageClass permits losing local data.
bool says_disposable(const api::ObjectMeta& metadata);
// Returns the parts of a volume, its claim and its class that decide whether
// it holds a node: for kube::watch().
inline auto decides_on_volume(const api::PersistentVolume& volume) {
    return std::tie(volume.status.phase, volume.spec.claimRef, volume.spec.nodeAffinity);
}
inline auto decides_on_data(const api::PersistentVolumeClaim& claim) {
    return std::tie(claim.metadata.annotations, claim.spec.volumeName);
}
inline const auto& decides_on_class(const api::StorageClass& storage_class) {
    return storage_class.metadata.annotations;
}

// Reports whether the claim's machine is kept for volumes on its disk until a person decides.
bool is_kept_for_volumes(const NodeSmithClaim& claim);

}  // namespace controllers
