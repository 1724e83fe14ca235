// Which labels a pool may set on its Nodes, and which of them have no effect. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "controllers/cache/kinds.hpp"

namespace controllers {

// A label of a pool that the API server, the kubelet or the operator would not let stand. Both are empty if
// there is none.
struct LabelProblem {
    std::string reason;  // of the pool's condition Ready
    std::string message;
};

// Returns the first problem of spec.poolLabelKey and spec.machineTemplate.labels, with what to do. The CRD
// refuses the same, but an object may be older than its rules.
LabelProblem label_problem(const NodeSmithPool& pool);

// Reports whether NodeRestriction keeps kubelets from setting labels of this key on their Nodes.
bool is_kept_from_kubelets(std::string_view key);
// Reports whether Kubernetes, the kubelet or the operator sets labels of this key, so that no pool may keep
// its name in it.
bool is_reserved_pool_label(std::string_view key);

// Reports whether the kubelet says by itself what the label of this key holds.
bool is_set_by_kubelet(std::string_view key);

// Reports whether the label of this key says that the operator's pod may run on the Node. No machine that the
// operator makes gets it: whoever is root there could read the operator's credentials.
bool is_place_of_operator(std::string_view key);

// The labels of the pool's template that something else sets, by key, each with who sets it and what to do.
// A value with a placeholder is what the setter itself says, so it is not among them.
std::map<std::string, std::string> labels_without_effect(const NodeSmithPool& pool,
                                                         const NodeSmithProvider* provider);

}  // namespace controllers
