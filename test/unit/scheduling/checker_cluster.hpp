// The judge's own model of a cluster: nodes with labels, taints, free resources, and their pods.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/solver.hpp"

namespace checker {

struct CheckedNode {
    std::string name;
    api::StringMap labels;
    std::vector<api::Taint> taints;
    std::map<std::string, __int128> free;  // in thousandths
    bool limits_everything = true;         // if false, resources that are not named are unlimited storage
    std::vector<const api::Pod*> pods;
    std::optional<std::int64_t> volume_limit = std::nullopt;
};

struct CheckedCluster {
    const scheduling::Snapshot& snapshot;
    std::deque<CheckedNode> nodes;
    std::deque<api::Pod> made_pods;  // pods of DaemonSets
};

// Returns the requests in thousandths, by the documented rule.
std::map<std::string, __int128> requests_of(const api::Pod& pod);

// Returns the refusal for the pod's volumes only.
std::string volume_refusal(const CheckedCluster& cluster, const CheckedNode& node, const api::Pod& pod);

// Returns why the kube-scheduler would not place the pod on the node now; "" if it would.
std::string refusal(const CheckedCluster& cluster, const CheckedNode& node, const api::Pod& pod);

}  // namespace checker
