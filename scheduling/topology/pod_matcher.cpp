#include "scheduling/topology/pod_matcher.hpp"

#include <algorithm>

namespace scheduling {

namespace {

// Handles matchLabelKeys and mismatchLabelKeys as if the selector named the owner's values.
void add_own_values(std::optional<api::LabelSelector>& selector, const std::vector<std::string>& keys,
                    api::SelectorOperator relation, const api::Pod& owner) {
    if (!selector) return;
    for (const auto& key : keys)
        if (const auto* value = api::find(owner.metadata.labels, key))
            selector->matchExpressions.push_back({key, relation, {*value}});
}

}  // namespace

bool PodSelection::matches(const api::Pod& pod) const {
    if (!selector) return false;
    if (!in_all_namespaces && !namespaces.contains(pod.metadata.namespace_)) return false;
    return api::matches(*selector, pod.metadata.labels);
}

bool PodMatcher::matches(const api::Pod& pod) const {
    return std::ranges::all_of(selections,
                               [&](const PodSelection& selection) { return selection.matches(pod); });
}

PodSelection SelectionReader::read(const api::PodAffinityTerm& term, const api::Pod& owner) const {
    PodSelection selection;
    selection.selector = term.labelSelector;
    add_own_values(selection.selector, term.matchLabelKeys, api::SelectorOperator::In, owner);
    add_own_values(selection.selector, term.mismatchLabelKeys, api::SelectorOperator::NotIn, owner);
    selection.namespaces.insert(term.namespaces.begin(), term.namespaces.end());
    if (!term.namespaceSelector) {
        if (term.namespaces.empty()) selection.namespaces.insert(owner.metadata.namespace_);
        return selection;
    }
    const auto& wanted = *term.namespaceSelector;
    selection.in_all_namespaces = wanted.matchLabels.empty() && wanted.matchExpressions.empty();
    for (const auto& each : namespaces_)
        if (api::matches(wanted, each->metadata.labels)) selection.namespaces.insert(each->metadata.name);
    return selection;
}

PodSelection SelectionReader::read(const api::TopologySpreadConstraint& constraint, const api::Pod& owner) {
    PodSelection selection;
    selection.selector = constraint.labelSelector;
    add_own_values(selection.selector, constraint.matchLabelKeys, api::SelectorOperator::In, owner);
    selection.namespaces.insert(owner.metadata.namespace_);
    return selection;
}

}  // namespace scheduling
