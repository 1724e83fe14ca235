#include "scheduling/nodes/node_digest.hpp"

#include "api/names.hpp"

namespace scheduling {

bool is_finished(const api::Pod& pod) {
    return pod.status.phase == api::PodPhase::Succeeded || pod.status.phase == api::PodPhase::Failed;
}

bool is_bound_to_node(const api::Pod& pod) {
    if (api::find(pod.metadata.annotations, api::annotations::kMirrorPod)) return true;
    const auto* owner = api::controller_of(pod.metadata);
    return owner && (owner->kind == "DaemonSet" || owner->kind == "Node");
}

// Forgets everything when most label sets belong to former pods, because their numbers are permanent.
void NodeDigests::prepare(const Snapshot& snapshot) {
    constexpr std::size_t kFewLabelSets = 10'000;
    std::size_t pods = snapshot.pods.size();
    for (const auto& node : snapshot.nodes) pods += node.pods.size();
    if (label_sets_.size() > kFewLabelSets + 2 * pods) *this = NodeDigests();
    std::erase_if(nodes_, [](const auto& entry) { return !entry.second.is_used; });
    for (auto& [name, memory] : nodes_) memory.is_used = false;
}

std::uint32_t NodeDigests::kind_of(const std::shared_ptr<const api::Pod>& pod) {
    key_.clear();
    key_.put(std::int64_t{label_sets_.number_of(pod)});
    key_.put(pod->spec.affinity->podAntiAffinity);
    return kinds_.number_of(key_.text());
}

NodeDigest NodeDigests::digest_of(const NodeInfo& node) {
    NodeDigest digest;
    digest.allocatable = amounts_of(node.node->status.allocatable, resource_names_);
    for (const auto& pod : node.pods) {
        if (is_finished(*pod)) continue;
        digest.used += taken_by(*pod, resource_names_);
        if (!is_bound_to_node(*pod)) ++digest.own_pods;
        const auto* owner = api::controller_of(pod->metadata);
        if (owner && owner->kind == "DaemonSet")
            digest.daemon_pods.push_back({owner->uid, pod.get(), requests_of(pod->spec, resource_names_)});
        if (pod->spec.affinity && pod->spec.affinity->podAntiAffinity)
            digest.keep_apart.push_back({pod.get(), kind_of(pod)});
    }
    return digest;
}

NodeDigests::Memory& NodeDigests::remembered(const NodeInfo& node) {
    auto& memory = nodes_[node.node->metadata.name];
    memory.is_used = true;
    if (memory.node == node.node && memory.pods == node.pods) return memory;
    memory.node = node.node;
    memory.pods = node.pods;
    memory.digest = digest_of(node);
    memory.has_labels = false;
    return memory;
}

const std::vector<CountedPods>& NodeDigests::counted(const NodeInfo& node) {
    auto& memory = remembered(node);
    if (!memory.has_labels) {
        memory.has_labels = true;
        for (const auto& pod : node.pods)
            if (!is_finished(*pod))
                memory.digest.counted.push_back(
                    {label_sets_.number_of(pod), pod->metadata.deletionTimestamp.has_value()});
    }
    return memory.digest.counted;
}

}  // namespace scheduling
