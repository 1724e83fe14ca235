#include "scheduling/pods/node_filter.hpp"

#include <algorithm>

#include "scheduling/pods/tolerations.hpp"

namespace scheduling {

namespace {

template <class Predicate>
void retain_if(BitSet& rows, Predicate keeps) {
    for (auto row = rows.next(0); row != kNone; row = rows.next(row + 1))
        if (!keeps(row)) rows.erase(row);
}

// Checks a requirement on the name. Kubernetes knows no other field, and no other form of it.
bool is_name_requirement(const api::SelectorRequirement& field) {
    return field.key == "metadata.name" && field.values.size() == 1 &&
           (field.operator_ == api::SelectorOperator::In || field.operator_ == api::SelectorOperator::NotIn);
}

}  // namespace

void FilterEvaluator::retain(BitSet& rows, KeyId key, const api::SelectorRequirement& requirement) {
    const auto accepted = labels_.accepted(key, requirement);
    const auto& column = labels_.column(key);
    retain_if(rows, [&](std::size_t row) { return accepted[column[row]]; });
}

BitSet FilterEvaluator::rows(const api::NodeSelectorTerm& term) {
    if (term.matchExpressions.empty() && term.matchFields.empty()) return {};
    auto rows = BitSet::all(labels_.rows());
    for (const auto& requirement : term.matchExpressions)
        retain(rows, labels_.key(requirement.key), requirement);
    for (const auto& field : term.matchFields) {
        if (!is_name_requirement(field)) return {};
        retain(rows, labels_.name_key(), field);
    }
    return rows;
}

BitSet FilterEvaluator::rows(const api::NodeSelector& selector) {
    BitSet rows;
    for (const auto& term : selector.nodeSelectorTerms) rows |= this->rows(term);
    return rows;
}

BitSet FilterEvaluator::rows_with(KeyId key) {
    auto rows = BitSet::all(labels_.rows());
    const auto& column = labels_.column(key);
    retain_if(rows, [&](std::size_t row) { return column[row] != kAbsent; });
    return rows;
}

void FilterEvaluator::retain_tolerated(BitSet& rows, const NodeFilter& filter) const {
    retain_if(rows, [&](std::size_t row) {
        const auto& taints = *traits_[row].taints;
        if (taints.empty()) return true;
        if (untolerated(taints, *filter.tolerations)) return false;
        return !filter.avoids_soft_taints || !is_asked_away(taints, *filter.tolerations);
    });
}

BitSet FilterEvaluator::rows(const NodeFilter& filter) {
    auto rows = BitSet::all(labels_.rows());
    for (const auto* wanted : filter.equal)
        for (const auto& [name, value] : *wanted)
            retain(rows, labels_.key(name), {name, api::SelectorOperator::In, {value}});
    for (const auto* selector : filter.any_of) rows &= this->rows(*selector);
    for (const auto* term : filter.all) rows &= this->rows(*term);
    if (filter.tolerations) retain_tolerated(rows, filter);
    for (const auto resource : filter.resources)
        retain_if(rows,
                  [&](std::size_t row) { return traits_[row].allocatable->extra_amount(resource) > 0; });
    for (const auto feature : filter.features)
        retain_if(rows, [&](std::size_t row) {
            const auto* declared = traits_[row].features;
            return !declared || std::ranges::find(*declared, feature) != declared->end();
        });
    return rows;
}

}  // namespace scheduling
