// Label and node selectors, and whether something matches them.
// Semantics: k8s.io/apimachinery/pkg/labels and k8s.io/component-helpers/scheduling/corev1/nodeaffinity.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.hpp"

namespace api {

// Unrecognized stands for an operator of a newer Kubernetes: such a requirement matches nothing.
enum class SelectorOperator { In, NotIn, Exists, DoesNotExist, Gt, Lt, Unrecognized };

struct SelectorRequirement {
    std::string key;
    SelectorOperator operator_ = SelectorOperator::Unrecognized;
    std::vector<std::string> values;
    bool operator==(const SelectorRequirement&) const = default;
};

// An absent selector matches nothing, an empty one everything: hold it as std::optional<LabelSelector>.
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

// The terms are alternatives.
struct NodeSelector {
    std::vector<NodeSelectorTerm> nodeSelectorTerms;
    bool operator==(const NodeSelector&) const = default;
};

bool matches(const SelectorRequirement& requirement, const StringMap& labels);
bool matches(const LabelSelector& selector, const StringMap& labels);
// Every pair of `wanted` is in `labels` (a pod's nodeSelector).
bool matches(const StringMap& wanted, const StringMap& labels);
// A term without any requirement matches nothing. The only field there is is metadata.name.
bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);
bool matches(const NodeSelector& selector, const StringMap& labels, std::string_view node_name);

}  // namespace api
