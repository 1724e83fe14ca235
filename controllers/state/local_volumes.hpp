// PersistentVolumes whose data is on the disk of one node. Whoever removes that node destroys the data.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controllers/cache/informers.hpp"

namespace controllers {

struct LocalVolume {
    enum class Fate {
        held,        // bound, and nobody said that its data may be lost
        disposable,  // bound, and its data may be lost: somebody said so, or its claim belongs to a pod
        released,    // its claim is gone, and its owner asked to keep the data (Retain)
    };
    std::string name;      // of the PersistentVolume
    api::ObjectKey claim;  // the PersistentVolumeClaim that it is bound to, or was
    Fate fate = Fate::held;
    bool is_of_pod = false;  // the claim ends with its pod (generic ephemeral volume)
    // False: the claim was deleted a moment ago, or the caches have not heard of it yet.
    bool is_claim_known = true;
};
using LocalVolumes = std::vector<LocalVolume>;

// Returns the volumes that can be used on this Node only, in the order of their names. A volume is one of
// these if its node affinity names the Node (by name, by hostname, or by the CSI driver's own ID of the node)
// and no other Node that stays. The Node may be made up for one that is gone.
LocalVolumes local_volumes_on(const Informers& informers, const api::Node& node);
// Of the Node that the claim had, if that is gone while its machine may still have the data.
LocalVolumes local_volumes_of(const Informers& informers, const NodeSmithClaim& claim, const api::Node* node);

// Whether the pool's user or somebody who may edit the claim gave up all data on the machine's disk.
bool gave_up_volumes(const NodeSmithPool* pool, const NodeSmithClaim& claim);
// The volumes that hold the machine.
LocalVolumes held_among(const LocalVolumes& volumes, const NodeSmithPool* pool, const NodeSmithClaim& claim);
// In words; empty: there are none.
std::string named(const LocalVolumes& volumes);
// What is lost when the claim's machine is removed, in words; empty: nothing. Volumes that end with their
// pods are left out.
std::string lost_with(const NodeSmithClaim& claim, const LocalVolumes& volumes);
// What a person can do about volumes that hold a node.
std::string how_to_release_volumes();

// UIDs of the pods on the Node that use one of the volumes and so can run nowhere else. Pods with volumes
// that end with them are left out.
std::set<std::string> pods_tied_to(const Informers& informers, const std::string& node,
                                   const LocalVolumes& volumes);

// The annotation on a PersistentVolumeClaim or StorageClass says that local data may be lost.
bool says_disposable(const api::ObjectMeta& metadata);
// What of a volume, of its claim and of its class decides whether it holds a node: for kube::watch().
inline auto decides_on_volume(const api::PersistentVolume& volume) {
    return std::tie(volume.status.phase, volume.spec.claimRef, volume.spec.nodeAffinity);
}
inline auto decides_on_data(const api::PersistentVolumeClaim& claim) {
    return std::tie(claim.metadata.annotations, claim.spec.volumeName);
}
inline const auto& decides_on_class(const api::StorageClass& storage_class) {
    return storage_class.metadata.annotations;
}

// The machine of the claim is kept, because volumes are on its disk, until a person decides.
bool is_kept_for_volumes(const NodeSmithClaim& claim);

}  // namespace controllers
