// Caches what the solver reads from the pods on a node, so that the next solve reads only changed nodes.
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

// Reports whether the pod is finished: it takes nothing on any node.
bool is_finished(const api::Pod& pod);
// Reports whether the pod belongs to its node and does not return elsewhere: a DaemonSet's or static pod.
bool is_bound_to_node(const api::Pod& pod);

struct CountedPods {
    LabelSetId labels = 0;
    bool is_terminating = false;
};

// KeepApart is a pod with anti-affinity. Pods of the same kind repel the same pods.
struct KeepApart {
    const api::Pod* pod = nullptr;
    std::uint32_t kind = 0;  // number from NodeDigests
};

struct DaemonPod {
    std::string uid;  // UID of the DaemonSet
    const api::Pod* pod = nullptr;
    Amounts requests;
};

// NodeDigest holds what was read from the pods that are not finished.
struct NodeDigest {
    Amounts allocatable;  // node's own value
    Amounts used;
    std::size_t own_pods = 0;  // pods that are not bound to the node
    std::vector<DaemonPod> daemon_pods;
    std::vector<KeepApart> keep_apart;
    std::vector<CountedPods> counted;  // filled by NodeDigests::counted() only
};

class NodeDigests {
public:
    ResourceNames& resource_names() { return resource_names_; }
    LabelSets& label_sets() { return label_sets_; }

    // Forgets what the snapshot does not contain. Must be called before a solve.
    void prepare(const Snapshot& snapshot);
    const NodeDigest& of(const NodeInfo& node) { return remembered(node).digest; }
    // Returns the number of kinds, which are numbered from 0.
    std::size_t kinds_of_keep_apart() const { return kinds_.size(); }
    // Returns the digest including the labels of each pod.
    const std::vector<CountedPods>& counted(const NodeInfo& node);

private:
    struct Memory {
        // Inputs of the digest, which cannot change.
        std::shared_ptr<const api::Node> node;
        std::vector<std::shared_ptr<const api::Pod>> pods;
        NodeDigest digest;
        bool has_labels = false;
        bool is_used = false;  // in this solve
    };
    Memory& remembered(const NodeInfo& node);
    NodeDigest digest_of(const NodeInfo& node);
    std::uint32_t kind_of(const std::shared_ptr<const api::Pod>& pod);

    ResourceNames resource_names_;
    LabelSets label_sets_;
    StringNumbers kinds_;  // kinds of pods with anti-affinity, by what it depends on
    KeyBuilder key_;
    std::unordered_map<std::string, Memory> nodes_;  // by name
};

}  // namespace scheduling
