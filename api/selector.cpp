#include "api/selector.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace api {

namespace {

std::optional<std::int64_t> as_integer(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool contains(const std::vector<std::string>& values, std::string_view value) {
    return std::ranges::find(values, value) != values.end();
}

// Evaluates Gt and Lt. They are false unless both sides are integers and there is exactly one value.
bool compares(const SelectorRequirement& requirement, std::string_view value) {
    if (requirement.values.size() != 1) return false;
    const auto left = as_integer(value);
    const auto right = as_integer(requirement.values.front());
    if (!left || !right) return false;
    return requirement.operator_ == SelectorOperator::Gt ? *left > *right : *left < *right;
}

const std::string* value_of(const StringMap& labels, const std::string& key) {
    const auto found = labels.find(key);
    return found == labels.end() ? nullptr : &found->second;
}

bool matches_value(const SelectorRequirement& requirement, const std::string* value) {
    switch (requirement.operator_) {
        case SelectorOperator::In:
            return value && contains(requirement.values, *value);
        case SelectorOperator::NotIn:
            return !value || !contains(requirement.values, *value);
        case SelectorOperator::Exists:
            return value != nullptr;
        case SelectorOperator::DoesNotExist:
            return value == nullptr;
        case SelectorOperator::Gt:
        case SelectorOperator::Lt:
            return value && compares(requirement, *value);
        case SelectorOperator::Unrecognized:
            return false;
    }
    return false;
}

bool matches_field(const SelectorRequirement& requirement, std::string_view node_name) {
    if (requirement.key != "metadata.name" || requirement.values.size() != 1) return false;
    const bool equal = requirement.values.front() == node_name;
    if (requirement.operator_ == SelectorOperator::In) return equal;
    if (requirement.operator_ == SelectorOperator::NotIn) return !equal;
    return false;
}

bool all_match(const std::vector<SelectorRequirement>& requirements, const StringMap& labels) {
    return std::ranges::all_of(requirements,
                               [&](const SelectorRequirement& each) { return matches(each, labels); });
}

}  // namespace

bool matches(const SelectorRequirement& requirement, const StringMap& labels) {
    return matches_value(requirement, value_of(labels, requirement.key));
}

bool matches(const LabelSelector& selector, const StringMap& labels) {
    return matches(selector.matchLabels, labels) && all_match(selector.matchExpressions, labels);
}

bool matches(const StringMap& wanted, const StringMap& labels) {
    return std::ranges::all_of(wanted, [&](const auto& pair) {
        const std::string* value = value_of(labels, pair.first);
        return value && *value == pair.second;
    });
}

bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name) {
    if (term.matchExpressions.empty() && term.matchFields.empty()) return false;
    return all_match(term.matchExpressions, labels) &&
           std::ranges::all_of(term.matchFields, [&](const SelectorRequirement& each) {
               return matches_field(each, node_name);
           });
}

bool matches(const NodeSelector& selector, const StringMap& labels, std::string_view node_name) {
    return std::ranges::any_of(selector.nodeSelectorTerms, [&](const NodeSelectorTerm& term) {
        return matches(term, labels, node_name);
    });
}

}  // namespace api
