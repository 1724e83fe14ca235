// Evaluates a pod's demands on a node's labels, name, taints and kinds of resources, for all nodes together.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.hpp"
#include "api/pod.hpp"
#include "scheduling/table/amounts.hpp"
#include "scheduling/table/bit_set.hpp"
#include "scheduling/table/label_table.hpp"

namespace scheduling {

// NodeFilter holds demands that must all be met. The pointees (parts of pods and
// volumes) must outlive the filter.
struct NodeFilter {
    std::vector<const api::StringMap*> equal;                   // nodeSelector
    std::vector<const api::NodeSelector*> any_of;               // one term of each must match
    std::vector<const api::NodeSelectorTerm*> all;              // preferences that must be met
    const std::vector<api::Toleration>* tolerations = nullptr;  // null: taints do not matter
    std::vector<std::uint32_t> resources;                       // extended ones that the node must offer
    std::vector<std::string_view> features;                     // see required_features()
    bool avoids_soft_taints = false;
};

// RowTraits holds the properties of rows apart from labels.
struct RowTraits {
    const std::vector<api::Taint>* taints = nullptr;
    const Amounts* allocatable = nullptr;
    const std::vector<std::string>* features = nullptr;  // of the kubelet; null: unknown, counts as all
};

class FilterEvaluator {
public:
    FilterEvaluator(LabelTable& labels, std::vector<RowTraits> traits)
        : labels_(labels), traits_(std::move(traits)) {}

    // Returns the rows that fit.
    BitSet rows(const NodeFilter& filter);
    BitSet rows(const api::NodeSelectorTerm& term);
    BitSet rows(const api::NodeSelector& selector);
    // Returns the rows that have the label.
    BitSet rows_with(KeyId key);

private:
    void retain(BitSet& rows, KeyId key, const api::SelectorRequirement& requirement);
    void retain_tolerated(BitSet& rows, const NodeFilter& filter) const;

    LabelTable& labels_;
    std::vector<RowTraits> traits_;
};

}  // namespace scheduling
