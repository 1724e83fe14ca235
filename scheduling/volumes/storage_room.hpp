// Where volumes can be made, as CSI drivers report it: CSIDriver.spec.storageCapacity and CSIStorageCapacity
// objects. Source: k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding (hasEnoughCapacity).
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/table/bit_set.hpp"
#include "scheduling/volumes/volumes.hpp"

namespace scheduling {

class StorageRoom {
public:
    // Both outlive this.
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
