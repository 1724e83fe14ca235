// What of volumes is used up while pods are placed: how many a node can hold, volumes made beforehand, claims
// that one pod alone may use.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/table/bit_set.hpp"
#include "scheduling/volumes/volumes.hpp"

namespace scheduling {

class VolumeUse {
public:
    VolumeUse(Rows& rows, VolumeIndex& volumes) : rows_(rows), volumes_(volumes) {}

    // Whether a node in that row can still serve the demand. What a new machine can hold is not known.
    bool is_left(std::size_t row, const VolumeDemand& demand);
    void take(std::size_t row, const VolumeDemand& demand);
    // With what was placed, wherever the pod would be; empty: none.
    std::string conflict(const VolumeDemand& demand) const;

private:
    using Volumes = std::vector<const api::PersistentVolume*>;

    std::set<Attachment>& attached(std::size_t row);
    bool can_attach(std::size_t row, const std::vector<Attachment>& wanted);
    bool is_reached(std::size_t row, const api::PersistentVolume& volume);
    // One volume for each choice.
    std::optional<Volumes> chosen(std::size_t row, const VolumeDemand& demand);
    const api::PersistentVolumeClaim* used_claim(const VolumeDemand& demand) const;

    Rows& rows_;
    VolumeIndex& volumes_;
    std::map<std::size_t, std::set<Attachment>> attached_;    // by row
    std::map<const api::PersistentVolume*, BitSet> reached_;  // rows
    std::set<const api::PersistentVolume*> taken_;            // volumes made beforehand
    std::set<const api::PersistentVolumeClaim*> used_;        // claims for one pod alone
};

// Where volumes can be made, as CSI drivers report it: CSIDriver.spec.storageCapacity and CSIStorageCapacity
// objects. Source: k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding (hasEnoughCapacity).
class StorageRoom {
public:
    StorageRoom(const Snapshot& snapshot, Rows& rows) : snapshot_(snapshot), rows_(rows) {}

    // The rows where the volume can be made. On a node in service the kube-scheduler's rule decides. A node
    // that has just come or is coming, and of whose part of the topology nothing is reported at all, may
    // still get room. So may a machine to launch that lacks a label by which room is reported: the driver
    // sets it when it gets there, as those of local storage do for each node.
    const BitSet& rows(const Provision& provision);

private:
    struct Reported {
        BitSet enough;               // room for the volume
        BitSet any;                  // room, or that there is too little
        std::set<std::string> keys;  // labels by which it is told
    };
    Reported reported(const Provision& provision);
    BitSet rows_of(const api::LabelSelector& topology);
    BitSet made(const Provision& provision);

    const Snapshot& snapshot_;
    Rows& rows_;
    std::map<std::pair<std::string, api::Quantity>, BitSet> known_;  // by class and size
};

}  // namespace scheduling
