// What the solver reads of the pods on a node, and a memory of it, so that the next solve reads again only
// nodes whose pods changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

// Finished pods take nothing, whatever node they are on.
bool is_finished(const api::Pod& pod);
// Pods that belong to their node and do not come back elsewhere: of DaemonSets, and static ones.
bool is_bound_to_node(const api::Pod& pod);

struct CountedPods {
    LabelSetId labels = 0;
    bool is_terminating = false;
};

// A pod with anti-affinity. Pods of the same kind keep the same pods away.
struct KeepApart {
    const api::Pod* pod = nullptr;
    std::uint32_t kind = 0;  // by NodeDigests
};

// A pod of a DaemonSet.
struct DaemonPod {
    std::string uid;  // of the DaemonSet
    const api::Pod* pod = nullptr;
    Amounts requests;
};

// Of the pods that are not finished.
struct NodeDigest {
    Amounts allocatable;  // of the node itself
    Amounts used;
    std::size_t own_pods = 0;  // not bound to the node
    std::vector<DaemonPod> daemon_pods;
    std::vector<KeepApart> keep_apart;
    std::vector<CountedPods> counted;  // by NodeDigests::counted() only
};

class NodeDigests {
public:
    ResourceNames& resource_names() { return resource_names_; }
    LabelSets& label_sets() { return label_sets_; }

    // To be called before a solve: forgets what the snapshot does not hold.
    void prepare(const Snapshot& snapshot);
    const NodeDigest& of(const Node& node) { return remembered(node).digest; }
    // Kinds are numbered from 0 on.
    std::size_t kinds_of_keep_apart() const { return kinds_.size(); }
    // With the labels of each pod.
    const std::vector<CountedPods>& counted(const Node& node);

private:
    struct Memory {
        // What it was made from: these cannot change.
        std::shared_ptr<const api::Node> node;
        std::vector<std::shared_ptr<const api::Pod>> pods;
        NodeDigest digest;
        bool has_labels = false;
        bool is_used = false;  // in this solve
    };
    Memory& remembered(const Node& node);
    NodeDigest digest_of(const Node& node);
    std::uint32_t kind_of(const std::shared_ptr<const api::Pod>& pod);

    ResourceNames resource_names_;
    LabelSets label_sets_;
    StringNumbers kinds_;  // of pods with anti-affinity, by what that depends on
    KeyBuilder key_;
    std::unordered_map<std::string, Memory> nodes_;  // by name
};

}  // namespace scheduling
