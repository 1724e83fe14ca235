#include "scheduling/topology/rule_reader.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "api/selector.hpp"
#include "scheduling/pods/key_builder.hpp"

namespace scheduling {

namespace {

using Action = api::UnsatisfiableConstraintAction;

const api::PodAffinity* affinity_of(const api::Pod& pod) {
    return pod.spec.affinity && pod.spec.affinity->podAffinity ? &*pod.spec.affinity->podAffinity : nullptr;
}

const api::PodAffinity* anti_affinity_of(const api::Pod& pod) {
    return pod.spec.affinity && pod.spec.affinity->podAntiAffinity ? &*pod.spec.affinity->podAntiAffinity
                                                                   : nullptr;
}

// Sorts the terms, the heaviest first; equal ones stay in the pod's order.
template <class Term>
std::vector<const Term*> by_weight(const std::vector<Term>& terms) {
    std::vector<const Term*> sorted;
    sorted.reserve(terms.size());
    for (const auto& term : terms) sorted.push_back(&term);
    std::ranges::sort(sorted, [](const Term* a, const Term* b) {
        return a->weight != b->weight ? a->weight > b->weight : a < b;
    });
    return sorted;
}

bool may_be_on(const api::Pod& pod, const api::StringMap& labels, const std::string& name) {
    if (!api::matches(pod.spec.nodeSelector, labels)) return false;
    if (!pod.spec.affinity || !pod.spec.affinity->nodeAffinity) return true;
    const auto& required = pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    return !required || api::matches(*required, labels, name);
}

bool is_empty(const api::NodeSelectorTerm& term) {
    return term.matchExpressions.empty() && term.matchFields.empty();
}

}  // namespace

bool differs_by_node(std::string_view key) {
    return key == api::labels::kHostname || key == api::labels::kClaim;
}

const BitSet& RuleReader::rows_with(KeyId key) {
    const auto [entry, added] = rows_with_.try_emplace(key);
    if (added) entry->second = rows_.evaluator().rows_with(key);
    return entry->second;
}

// Returns the nodes that a constraint considers. According to its policies the pod could be on them. They
// have the keys of all its constraints of the same kind.
const BitSet& RuleReader::spread_rows(const api::Pod& pod, const api::TopologySpreadConstraint& constraint) {
    const bool honors_affinity = constraint.nodeAffinityPolicy == api::NodeInclusionPolicy::Honor;
    const bool honors_taints = constraint.nodeTaintsPolicy == api::NodeInclusionPolicy::Honor;
    NodeFilter filter;
    KeyBuilder text;
    if (honors_affinity) {
        filter.equal.push_back(&*pod.spec.nodeSelector);
        text.put(pod.spec.nodeSelector);
        if (pod.spec.affinity && pod.spec.affinity->nodeAffinity) {
            const auto& required =
                pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
            if (required) filter.any_of.push_back(&*required);
            text.put(required);
        }
    }
    text.put(std::int64_t{honors_taints});
    if (honors_taints) {
        filter.tolerations = &*pod.spec.tolerations;
        text.put(pod.spec.tolerations);
    }
    std::vector<KeyId> keys;
    for (const auto& other : pod.spec.topologySpreadConstraints)
        if (other.whenUnsatisfiable == constraint.whenUnsatisfiable)
            keys.push_back(rows_.labels().key(other.topologyKey));
    std::ranges::sort(keys);
    for (const auto key : keys) text.put(std::int64_t{key});

    const auto [entry, added] = spread_rows_.try_emplace(text.text());
    if (added) {
        entry->second = rows_.evaluator().rows(filter);
        for (const auto key : keys) entry->second &= rows_with(key);
    }
    return entry->second;
}

SpreadRule RuleReader::spread(const api::Pod& pod, const api::TopologySpreadConstraint& constraint) {
    PodMatcher matcher{{SelectionReader::read(constraint, pod)}};
    SpreadRule rule;
    rule.max_skew = constraint.maxSkew;
    rule.min_domains = constraint.minDomains.value_or(0);
    rule.counts_itself = matcher.matches(pod);
    rule.counter = counters_.number_of(Counts::spread, rows_.labels().key(constraint.topologyKey),
                                       differs_by_node(constraint.topologyKey), spread_rows(pod, constraint),
                                       std::move(matcher));
    return rule;
}

bool RuleReader::has_vacated_domain(const api::Pod& pod, const api::TopologySpreadConstraint& constraint) {
    // Taints keep pods away from such a node.
    if (constraint.nodeTaintsPolicy == api::NodeInclusionPolicy::Honor) return false;
    const auto is_looked_at = [&](const api::Node& node) {
        const auto& labels = *node.metadata.labels;
        if (constraint.nodeAffinityPolicy == api::NodeInclusionPolicy::Honor &&
            !may_be_on(pod, labels, node.metadata.name))
            return false;
        return std::ranges::all_of(pod.spec.topologySpreadConstraints, [&](const auto& other) {
            return other.whenUnsatisfiable != constraint.whenUnsatisfiable ||
                   labels.contains(other.topologyKey);
        });
    };
    const auto key = rows_.labels().key(constraint.topologyKey);
    const auto& looked_at = spread_rows(pod, constraint);
    const auto is_shared = [&](const std::string& domain) {
        for (auto row = looked_at.next(0); row < rows_.nodes(); row = looked_at.next(row + 1))
            if (rows_.labels().text(key, rows_.labels().column(key)[row]) == domain) return true;
        return false;
    };
    return std::ranges::any_of(vacated_, [&](const api::Node* node) {
        return is_looked_at(*node) && !is_shared(node->metadata.labels->at(constraint.topologyKey));
    });
}

// Counts, for each term, only the pods that match all terms.
AffinityRule RuleReader::affinity(const api::Pod& pod,
                                  const std::vector<const api::PodAffinityTerm*>& terms) {
    PodMatcher matcher;
    for (const auto* term : terms) matcher.selections.push_back(selections_.read(*term, pod));
    AffinityRule rule;
    rule.matches_itself = matcher.matches(pod);
    for (const auto* term : terms) {
        const auto key = rows_.labels().key(term->topologyKey);
        const auto id = counters_.number_of(Counts::affinity, key, differs_by_node(term->topologyKey),
                                            rows_with(key), matcher);
        if (std::ranges::find(rule.counters, id) == rule.counters.end()) rule.counters.push_back(id);
    }
    return rule;
}

CounterId RuleReader::apart(const api::Pod& pod, const api::PodAffinityTerm& term, Counts counts) {
    const auto key = rows_.labels().key(term.topologyKey);
    return counters_.number_of(counts, key, differs_by_node(term.topologyKey), rows_with(key),
                               PodMatcher{{selections_.read(term, pod)}});
}

Rules RuleReader::required(const api::Pod& pod) {
    Rules rules;
    for (const auto& constraint : pod.spec.topologySpreadConstraints)
        if (constraint.whenUnsatisfiable != Action::ScheduleAnyway) {
            rules.spreads.push_back(spread(pod, constraint));
            rules.spreads.back().has_vacated_domain = has_vacated_domain(pod, constraint);
        }
    if (const auto* affinity = affinity_of(pod)) {
        const auto& required = affinity->requiredDuringSchedulingIgnoredDuringExecution;
        std::vector<const api::PodAffinityTerm*> terms;
        terms.reserve(required.size());
        for (const auto& term : required) terms.push_back(&term);
        if (!terms.empty()) rules.affinities.push_back(this->affinity(pod, terms));
    }
    if (const auto* affinity = anti_affinity_of(pod))
        for (const auto& term : affinity->requiredDuringSchedulingIgnoredDuringExecution)
            rules.empty.push_back(apart(pod, term, Counts::affinity));
    return rules;
}

std::vector<CounterId> RuleReader::owned(const api::Pod& pod) {
    std::vector<CounterId> owned;
    if (const auto* affinity = anti_affinity_of(pod))
        for (const auto& term : affinity->requiredDuringSchedulingIgnoredDuringExecution)
            owned.push_back(apart(pod, term, Counts::owners));
    return owned;
}

std::vector<Preference> RuleReader::preferences(const api::Pod& pod) {
    std::vector<Preference> preferences;
    if (rows_.has_soft_taints()) preferences.emplace_back().avoids_soft_taints = true;
    for (const auto& constraint : pod.spec.topologySpreadConstraints)
        if (constraint.whenUnsatisfiable == Action::ScheduleAnyway)
            preferences.emplace_back().rules.spreads.push_back(spread(pod, constraint));
    if (pod.spec.affinity && pod.spec.affinity->nodeAffinity)
        for (const auto* term :
             by_weight(pod.spec.affinity->nodeAffinity->preferredDuringSchedulingIgnoredDuringExecution))
            if (!is_empty(term->preference)) preferences.emplace_back().term = &term->preference;
    if (const auto* affinity = anti_affinity_of(pod))
        for (const auto* term : by_weight(affinity->preferredDuringSchedulingIgnoredDuringExecution))
            preferences.emplace_back().rules.empty.push_back(
                apart(pod, term->podAffinityTerm, Counts::affinity));
    if (const auto* affinity = affinity_of(pod))
        for (const auto* term : by_weight(affinity->preferredDuringSchedulingIgnoredDuringExecution))
            preferences.emplace_back().rules.affinities.push_back(
                this->affinity(pod, {&term->podAffinityTerm}));
    if (preferences.size() > kMostPreferences) preferences.resize(kMostPreferences);
    return preferences;
}

}  // namespace scheduling
