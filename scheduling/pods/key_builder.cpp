#include "scheduling/pods/key_builder.hpp"

namespace scheduling {

void KeyBuilder::put(const api::SelectorRequirement& requirement) {
    put(requirement.key);
    put(static_cast<std::int64_t>(requirement.operator_));
    put(requirement.values);
}

void KeyBuilder::put(const api::LabelSelector& selector) {
    put(selector.matchLabels);
    put(selector.matchExpressions);
}

void KeyBuilder::put(const api::NodeSelectorTerm& term) {
    put(term.matchExpressions);
    put(term.matchFields);
}

void KeyBuilder::put(const api::Toleration& toleration) {
    put(toleration.key);
    put(static_cast<std::int64_t>(toleration.operator_));
    put(toleration.value);
    put(toleration.effect);
}

void KeyBuilder::put(const api::PreferredSchedulingTerm& term) {
    put(std::int64_t{term.weight});
    put(term.preference);
}

void KeyBuilder::put(const api::PodAffinityTerm& term) {
    put(term.labelSelector);
    put(term.namespaces);
    put(term.namespaceSelector);
    put(term.topologyKey);
    put(term.matchLabelKeys);
    put(term.mismatchLabelKeys);
}

void KeyBuilder::put(const api::WeightedPodAffinityTerm& term) {
    put(std::int64_t{term.weight});
    put(term.podAffinityTerm);
}

void KeyBuilder::put(const api::PodAffinity& affinity) {
    put(affinity.requiredDuringSchedulingIgnoredDuringExecution);
    put(affinity.preferredDuringSchedulingIgnoredDuringExecution);
}

void KeyBuilder::put(const api::TopologySpreadConstraint& constraint) {
    put(std::int64_t{constraint.maxSkew});
    put(constraint.topologyKey);
    put(static_cast<std::int64_t>(constraint.whenUnsatisfiable));
    put(constraint.labelSelector);
    put(std::int64_t{constraint.minDomains.value_or(0)});
    put(static_cast<std::int64_t>(constraint.nodeAffinityPolicy));
    put(static_cast<std::int64_t>(constraint.nodeTaintsPolicy));
    put(constraint.matchLabelKeys);
}

}  // namespace scheduling
