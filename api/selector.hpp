// Label and node selectors, and their matching. For the semantics see k8s.io/apimachinery/pkg/labels and
// k8s.io/component-helpers/scheduling/corev1/nodeaffinity.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.hpp"

namespace api {

// Unrecognized is an operator of a newer Kubernetes. Its requirement matches nothing.
enum class SelectorOperator { In, NotIn, Exists, DoesNotExist, Gt, Lt, Unrecognized };

struct SelectorRequirement {
    std::string key;
    SelectorOperator operator_ = SelectorOperator::Unrecognized;
    std::vector<std::string> values;
    bool operator==(const SelectorRequirement&) const = default;
};

// LabelSelector matches everything if it is empty. An absent one matches nothing, so store it as
// std::optional<LabelSelector>.
struct LabelSelector {
    StringMap matchLabels;
    std::vector<SelectorRequirement> matchExpressions;
    bool operator==(const LabelSelector&) const = default;
};

struct NodeSelectorTerm {
    std::vector<SelectorRequirement> matchExpressions;
    std::vector<SelectorRequirement> matchFields;
    bool operator==(const NodeSelectorTerm&) const = default;
};

// NodeSelector has terms that are alternatives.
struct NodeSelector {
    std::vector<NodeSelectorTerm> nodeSelectorTerms;
    bool operator==(const NodeSelector&) const = default;
};

bool matches(const SelectorRequirement& requirement, const StringMap& labels);
bool matches(const LabelSelector& selector, const StringMap& labels);
// Reports whether every pair of `wanted` is in `labels` (a pod's nodeSelector).
bool matches(const StringMap& wanted, const StringMap& labels);
// A term without requirements matches nothing. The only field is metadata.name.
bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);
bool matches(const NodeSelector& selector, const StringMap& labels, std::string_view node_name);

}  // namespace api
