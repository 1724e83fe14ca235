// Constraints between pods as the kube-scheduler understands them: host ports, required and preferred
// anti-affinity by node, hard and soft topology spreads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/simulation/cluster/view.hpp"

namespace simulation {

// Candidate is a node with its free resources and its pods.
struct Candidate {
    const api::Node* node;
    api::ResourceList free;
    std::vector<const api::Pod*> pods;
};

// Returns why other pods forbid the node, in the scheduler's words; nullopt if they allow it. `candidate` is
// one of `all`.
std::optional<std::string> pods_refuse(const Candidate& candidate, const std::vector<Candidate>& all,
                                       const api::Pod& pod);
// Counts the pods that conflict with the pod's preferences: soft spreads and preferred anti-affinity.
std::int64_t crowd(const Candidate& candidate, const std::vector<Candidate>& all, const api::Pod& pod);

// Reports whether the node selector and the required node affinity accept the node.
bool is_selected(const api::Pod& pod, const api::StringMap& labels, const std::string& node_name);

}  // namespace simulation
