// Tracks what placed pods use up: attachments of nodes, pre-provisioned volumes, and
// claims that only one pod may use.
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

class VolumeUsage {
public:
    VolumeUsage(const Snapshot& snapshot, Rows& rows, VolumeIndex& volumes);

    // Reports whether claims and volumes are left for the demand at the row.
    bool is_left(std::size_t row, const VolumeDemand& demand);
    // Reports whether the slot can attach the volumes in addition to its present ones, and runs their drivers
    // where the kube-scheduler insists on that. `pool` is that of the slot's machine.
    bool can_attach(std::size_t slot, std::optional<std::size_t> pool, const VolumeDemand& demand);
    // Excess names a driver from which the demand wants more volumes than a new
    // machine of the pool can attach.
    struct Excess {
        std::string driver;
        std::int64_t wanted = 0;
        std::int64_t limit = 0;
    };
    std::optional<Excess> beyond_new(std::size_t pool, const VolumeDemand& demand) const;
    // Returns a driver of the demand that a new machine of the pool will not run although the kube-scheduler
    // insists on it (CSIDriver.spec.preventPodSchedulingIfMissing). The pool's youngest Node shows this.
    // Source: k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits, from 1.37.
    std::optional<std::string> driver_missing_on_new(std::size_t pool, const VolumeDemand& demand) const;
    // `row` is the slot's own, or the present place of a launched machine.
    void take(std::size_t slot, std::size_t row, const VolumeDemand& demand);
    // Returns a conflict with placed pods that exists wherever the pod would be; empty: none.
    std::string conflict(const VolumeDemand& demand) const;

private:
    using Volumes = std::vector<const api::PersistentVolume*>;

    std::set<Attachment>& attached(std::size_t slot);
    // Returns how many of the driver's volumes are attached to the node and used by none of its pods.
    std::int64_t attached_without_pods(std::size_t slot, const std::string& driver);
    std::optional<std::int64_t> limit(std::size_t slot, std::optional<std::size_t> pool,
                                      const std::string& driver) const;
    std::optional<std::int64_t> limit_of_new(std::size_t pool, const std::string& driver) const;
    bool lacks_driver(std::size_t slot, const std::string& driver) const;
    bool is_reached(std::size_t row, const api::PersistentVolume& volume);
    // Returns one volume for each choice.
    std::optional<Volumes> chosen(std::size_t row, const VolumeDemand& demand);
    const api::PersistentVolumeClaim* used_claim(const VolumeDemand& demand) const;

    Rows& rows_;
    VolumeIndex& volumes_;
    const std::vector<AttachLimits> limits_;                 // limits of new machines, by pool
    std::map<std::string, std::set<std::size_t>> required_;  // drivers that nodes must run: pools without it
    std::map<std::size_t, std::set<Attachment>> attached_;   // of pods, by slot
    std::map<std::string, std::set<Attachment>, std::less<>> reported_;  // by name of the node
    std::map<const api::PersistentVolume*, BitSet> reached_;             // rows
    std::set<const api::PersistentVolume*> taken_;                       // pre-provisioned volumes
    // The taken volumes by the claims that get them.
    std::map<const api::PersistentVolumeClaim*, const api::PersistentVolume*> volume_of_;
    std::set<const api::PersistentVolumeClaim*> used_;  // claims for one pod alone
};

// StorageCapacity determines where volumes can be provisioned, as CSI drivers report it:
// CSIDriver.spec.storageCapacity and CSIStorageCapacity objects. Source:
// k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding (hasEnoughCapacity).
class StorageCapacity {
public:
    enum class Decider { report, youngest_node, pool };

    StorageCapacity(const Snapshot& snapshot, Rows& rows) : snapshot_(snapshot), rows_(rows) {}

    // Returns the rows where the volume can be provisioned. The kube-scheduler's rule decides on a node in
    // service. A new or coming node may still get room if nothing is reported about its part of the topology.
    // So may a new machine whose value of a reporting label is unknown. The label differs for each node, as
    // with local storage, or the driver sets it later. An exception is a pool whose youngest Node has no
    // volume of the driver and reports too little. A new machine would have as little. While no node runs the
    // driver and nothing is reported, as in an empty pool, any new machine may bring room: only a machine
    // shows. What the pool states goes before both, and decides about its coming nodes until they report.
    const BitSet& rows(const Provision& provision) { return known(provision).rows; }
    // Says who decides about room on new machines of the pool, if rows() has none of them.
    Decider decider(std::size_t pool, const Provision& provision);

private:
    struct Known {
        BitSet rows;
        BitSet open;  // rows of new machines about which no report can tell
    };
    struct Reported {
        BitSet enough;               // room for the volume
        BitSet enough_in_zone;       // the same for rows whose region is not known
        BitSet any;                  // any report, including too little room
        std::set<std::string> keys;  // labels of the reports
        bool by_anyone = false;      // a report for the class, or a node that runs its driver
    };
    Reported reported(const Provision& provision);
    BitSet rows_of(const api::LabelSelector& topology);
    const Known& known(const Provision& provision);
    Known made(const Provision& provision);
    BitSet open_rows(const Reported& reported) const;
    bool has_room(std::size_t pool, const Provision& provision, bool otherwise) const;
    const BitSet& used_by(const std::string& driver);
    std::set<std::size_t> pools_without_room(const Reported& reported, const Provision& provision);

    const Snapshot& snapshot_;
    Rows& rows_;
    std::map<std::pair<std::string, api::Quantity>, Known> known_;  // by class and size
    std::map<std::string, BitSet> used_;                            // by driver
};

}  // namespace scheduling
