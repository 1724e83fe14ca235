// Determines which labels a pool may set on its Nodes, and which of them have no effect. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "controllers/cache/kinds.hpp"

namespace controllers {

// LabelProblem describes a label of a pool that the API server, the kubelet or the operator would not
// accept. Both are empty if there is none.
struct LabelProblem {
    std::string reason;  // reason of the pool's condition Ready
    std::string message;
};

// Returns the first problem of spec.poolLabelKey and spec.machineTemplate.labels, with a remedy. The CRD
// refuses the same problems, but an object may be older than its rules.
LabelProblem label_problem(const NodeSmithPool& pool);

// Reports whether NodeRestriction prevents kubelets from setting labels with this key on their Nodes.
bool is_kept_from_kubelets(std::string_view key);
// Reports whether Kubernetes, the kubelet or the operator sets labels with this key. Then
// no pool may store its name in it.
bool is_reserved_pool_label(std::string_view key);

// Reports whether the kubelet sets the label with this key by itself.
bool is_set_by_kubelet(std::string_view key);

// Reports whether only people may set the label with this key. One kind attracts the operator's pod to the
// Node, where root could read the operator's credentials. The other says whose machine the Node is on, and
// the operator believes it.
bool is_word_of_people(std::string_view key);

// Returns the labels of the pool's template that something else sets, by key, with the setter and a remedy. A
// value with a placeholder equals the setter's value, so it is not included.
std::map<std::string, std::string> labels_without_effect(const NodeSmithPool& pool,
                                                         const NodeSmithProvider* provider);

}  // namespace controllers
