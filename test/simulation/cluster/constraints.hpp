// What pods ask of each other, as the kube-scheduler understands it: host ports, required and preferred
// anti-affinity by node, hard and soft topology spreads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/simulation/cluster/view.hpp"

namespace simulation {

// A node with what is free on it and who is there.
struct Candidate {
    const api::Node* node;
    api::ResourceList free;
    std::vector<const api::Pod*> pods;
};

// nullopt: the pods are no obstacle; else the reason in the scheduler's words. `candidate` is one of `all`.
std::optional<std::string> pods_refuse(const Candidate& candidate, const std::vector<Candidate>& all,
                                       const api::Pod& pod);
// How many pods are in the way of what the pod would like: soft spreads and preferred anti-affinity.
std::int64_t crowd(const Candidate& candidate, const std::vector<Candidate>& all, const api::Pod& pod);

// Node selector and required node affinity.
bool is_selected(const api::Pod& pod, const api::StringMap& labels, const std::string& node_name);

}  // namespace simulation
