// What a pod's volumes demand of its node: where they can be reached, and how many a node can hold.
// Sources: k8s.io/kubernetes/pkg/scheduler/framework/plugins/{volumebinding,volumezone,nodevolumelimits}.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core.hpp"
#include "scheduling/rows.hpp"

namespace scheduling {

// A volume as a driver attaches it.
struct Attachment {
    std::string driver;
    std::string volume;
    auto operator<=>(const Attachment&) const = default;
};

struct VolumeDemand {
    std::vector<const api::NodeSelector*> any_of;  // each has to hold
    std::vector<Attachment> attachments;
    std::string problem;  // why no node can serve the pod at all; empty: none
};

class VolumeIndex {
public:
    explicit VolumeIndex(const Snapshot& snapshot);

    // Valid as long as the index.
    VolumeDemand demand_of(const api::Pod& pod);

private:
    void add_claim(VolumeDemand& demand, const api::Pod& pod, const std::string& name, bool is_own);
    void add_bound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim);
    void add_unbound(VolumeDemand& demand, const api::PersistentVolumeClaim& claim);
    void add_static(VolumeDemand& demand, const api::PersistentVolumeClaim& claim, const std::string& name);
    void add_selector(VolumeDemand& demand, std::vector<api::NodeSelectorTerm> terms);
    const api::StorageClass* class_of(const api::PersistentVolumeClaim& claim) const;

    std::map<api::ObjectKey, const api::PersistentVolumeClaim*> claims_;
    std::map<std::string, const api::PersistentVolume*, std::less<>> volumes_;
    std::map<std::string, const api::StorageClass*, std::less<>> classes_;
    const api::StorageClass* default_class_ = nullptr;
    std::deque<api::NodeSelector> made_;
};

// How many volumes more the nodes that exist can hold. What a new machine can hold is not known.
class AttachLimits {
public:
    AttachLimits(const Rows& rows, VolumeIndex& volumes) : rows_(rows), volumes_(volumes) {}

    bool hold(std::size_t row, const std::vector<Attachment>& wanted);
    void attach(std::size_t row, const std::vector<Attachment>& attachments);

private:
    std::set<Attachment>& attached(std::size_t row);

    const Rows& rows_;
    VolumeIndex& volumes_;
    std::map<std::size_t, std::set<Attachment>> attached_;
};

}  // namespace scheduling
