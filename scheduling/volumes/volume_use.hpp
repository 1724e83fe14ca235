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
#include "scheduling/volumes/attach_limits.hpp"
#include "scheduling/volumes/volumes.hpp"

namespace scheduling {

class VolumeUse {
public:
    VolumeUse(const Snapshot& snapshot, Rows& rows, VolumeIndex& volumes)
        : rows_(rows), volumes_(volumes), limits_(attach_limits(snapshot)) {}

    // Whether claims and volumes are left for the demand where the row is.
    bool is_left(std::size_t row, const VolumeDemand& demand);
    // Whether the slot can attach the volumes beside those that it has. `pool`: of the slot's machine.
    bool can_attach(std::size_t slot, std::optional<std::size_t> pool, const VolumeDemand& demand);
    // A driver of which the demand asks for more volumes than a new machine of the pool can attach.
    struct Excess {
        std::string driver;
        std::int64_t wanted = 0;
        std::int64_t limit = 0;
    };
    std::optional<Excess> beyond_new(std::size_t pool, const VolumeDemand& demand) const;
    // `row`: the slot's own, or for a launched machine where it is.
    void take(std::size_t slot, std::size_t row, const VolumeDemand& demand);
    // With what was placed, wherever the pod would be; empty: none.
    std::string conflict(const VolumeDemand& demand) const;

private:
    using Volumes = std::vector<const api::PersistentVolume*>;

    std::set<Attachment>& attached(std::size_t slot);
    std::optional<std::int64_t> limit(std::size_t slot, std::optional<std::size_t> pool,
                                      const std::string& driver) const;
    std::optional<std::int64_t> limit_of_new(std::size_t pool, const std::string& driver) const;
    bool is_reached(std::size_t row, const api::PersistentVolume& volume);
    // One volume for each choice.
    std::optional<Volumes> chosen(std::size_t row, const VolumeDemand& demand);
    const api::PersistentVolumeClaim* used_claim(const VolumeDemand& demand) const;

    Rows& rows_;
    VolumeIndex& volumes_;
    const std::vector<AttachLimits> limits_;                  // of new machines, by pool
    std::map<std::size_t, std::set<Attachment>> attached_;    // by slot
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
    // still get room. So may a machine to launch whose value of a label by which room is reported is not
    // known: it is another on each node, as with local storage, or set by the driver when it gets there. But
    // where the youngest Node of its pool has no volume of the driver yet and reports too little, a new one
    // would have as little.
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
    const BitSet& used_by(const std::string& driver);
    std::set<std::size_t> pools_without_room(const Reported& reported, const Provision& provision);

    const Snapshot& snapshot_;
    Rows& rows_;
    std::map<std::pair<std::string, api::Quantity>, BitSet> known_;  // by class and size
    std::map<std::string, BitSet> used_;                             // by driver
};

}  // namespace scheduling
