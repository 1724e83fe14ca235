// Determines what a pod's volumes demand of its node. Sources:
// k8s.io/kubernetes/pkg/scheduler/framework/plugins/
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

// Attachment is a volume as a driver attaches it.
struct Attachment {
    std::string driver;
    std::string volume;
    auto operator<=>(const Attachment&) const = default;
};

// StaticBinding is a claim that will get one of the pre-provisioned volumes.
struct StaticBinding {
    const api::PersistentVolumeClaim* claim = nullptr;
    std::vector<const api::PersistentVolume*> volumes;  // in the order in which the kube-scheduler takes them
};

// Provision is a volume to be provisioned by a driver that reports its room by location.
struct Provision {
    const api::PersistentVolumeClaim* claim = nullptr;
    const api::StorageClass* storage_class = nullptr;
    api::Quantity size;
};

// VolumeTie says where a volume can be used, or must be provisioned.
struct VolumeTie {
    const api::NodeSelector* selector = nullptr;
    const api::PersistentVolumeClaim* claim = nullptr;
    const api::PersistentVolume* volume = nullptr;  // null: it is not provisioned yet
};

struct VolumeDemand {
    std::vector<VolumeTie> ties;  // each must hold
    std::vector<Attachment> attachments;
    std::vector<StaticBinding> choices;                         // by ascending size of the claims
    std::vector<const api::PersistentVolumeClaim*> exclusives;  // ReadWriteOncePod
    std::vector<Provision> provisions;
    std::string problem;  // why no node can run the pod; empty: none
};

// Returns where the volume can be reached; null: everywhere.
const api::NodeSelector* affinity_of(const api::PersistentVolume& volume);

// Returns the class of claims that name none: the youngest one marked as default; null: there is none.
const api::StorageClass* default_class(
    const std::vector<std::shared_ptr<const api::StorageClass>>& storage_classes);

class VolumeIndex {
public:
    // The snapshot must outlive the index.
    explicit VolumeIndex(const Snapshot& snapshot);

    // Returns a demand that is valid as long as the index.
    VolumeDemand demand_of(const api::Pod& pod);
    // Returns the volume as its driver attaches it; nullopt: no driver does.
    std::optional<Attachment> attachment_of(const std::string& volume) const;

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
    std::string why_unusable(const api::PersistentVolumeClaim& claim, const std::string& class_name) const;
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
    std::set<std::string, std::less<>> nodes_;  // names, read at the first use
    // Users of all claims, read at the first use.
    std::optional<std::map<api::ObjectKey, const api::Pod*>> users_;
};

}  // namespace scheduling
