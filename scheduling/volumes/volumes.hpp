// What a pod's volumes demand of its node. Sources: k8s.io/kubernetes/pkg/scheduler/framework/plugins/
// {volumebinding,volumezone,volumerestrictions,nodevolumelimits}.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "scheduling/input/snapshot.hpp"

namespace scheduling {

// A volume as a driver attaches it.
struct Attachment {
    std::string driver;
    std::string volume;
    auto operator<=>(const Attachment&) const = default;
};

// A claim that will get one of the volumes that somebody made beforehand.
struct Choice {
    const api::PersistentVolumeClaim* claim = nullptr;
    std::vector<const api::PersistentVolume*> volumes;  // in the order in which the kube-scheduler takes them
};

// A volume that is to be made by a driver that reports how much room it has where.
struct Provision {
    const api::StorageClass* storage_class = nullptr;
    api::Quantity size;
};

// Where a volume can be used, or is to be made.
struct VolumeTie {
    const api::NodeSelector* selector = nullptr;
    const api::PersistentVolumeClaim* claim = nullptr;
    const api::PersistentVolume* volume = nullptr;  // null: it is not made yet
};

struct VolumeDemand {
    std::vector<VolumeTie> ties;  // each has to hold
    std::vector<Attachment> attachments;
    std::vector<Choice> choices;                                // by ascending size of the claims
    std::vector<const api::PersistentVolumeClaim*> exclusives;  // ReadWriteOncePod
    std::vector<Provision> provisions;
    std::string problem;  // why no node can serve the pod at all; empty: none
};

// Where the volume can be reached; null: everywhere.
const api::NodeSelector* affinity_of(const api::PersistentVolume& volume);

class VolumeIndex {
public:
    // The snapshot outlives the index.
    explicit VolumeIndex(const Snapshot& snapshot);

    // Valid as long as the index.
    VolumeDemand demand_of(const api::Pod& pod);

private:
    void add_claim(VolumeDemand& demand, const api::Pod& pod, const std::string& name, bool is_own);
    void add_bound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim);
    void add_unbound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim);
    void add_made_anew(VolumeDemand& demand, const api::PersistentVolumeClaim& claim);
    void add_by_class(VolumeDemand& demand, const api::PersistentVolumeClaim& claim,
                      const api::StorageClass& storage_class);
    void add_static(VolumeDemand& demand, const api::PersistentVolumeClaim& claim, const std::string& name);
    void add_tie(VolumeDemand& demand, std::vector<api::NodeSelectorTerm> terms,
                 const api::PersistentVolumeClaim& claim, const api::PersistentVolume* volume = nullptr);
    bool is_node(const std::string& name);
    const api::StorageClass* class_of(const api::PersistentVolumeClaim& claim) const;
    const api::Pod* user_of(const api::PersistentVolumeClaim& claim);

    const Snapshot& snapshot_;
    std::map<api::ObjectKey, const api::PersistentVolumeClaim*> claims_;
    std::map<std::string, const api::PersistentVolume*, std::less<>> volumes_;
    std::map<std::string, const api::StorageClass*, std::less<>> classes_;
    std::set<std::string, std::less<>> drivers_with_capacity_;
    const api::StorageClass* default_class_ = nullptr;
    std::deque<api::NodeSelector> made_;
    std::set<std::string, std::less<>> nodes_;  // names, read when the first pod asks
    // Of all claims, read when the first pod asks.
    std::optional<std::map<api::ObjectKey, const api::Pod*>> users_;
};

}  // namespace scheduling
