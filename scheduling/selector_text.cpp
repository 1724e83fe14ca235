#include "scheduling/selector_text.hpp"

#include <vector>

#include "base/text.hpp"

namespace scheduling {

std::string words_of(const api::SelectorRequirement& requirement) {
    const auto values = " (" + base::joined(requirement.values, ", ") + ")";
    switch (requirement.operator_) {
        case api::SelectorOperator::In:
            return "label " + requirement.key +
                   (requirement.values.size() == 1 ? "=" + requirement.values.front() : " in" + values);
        case api::SelectorOperator::NotIn:
            return "label " + requirement.key + " not in" + values;
        case api::SelectorOperator::Exists:
            return "label " + requirement.key;
        case api::SelectorOperator::DoesNotExist:
            return "no label " + requirement.key;
        case api::SelectorOperator::Gt:
            return "label " + requirement.key + " above " + base::joined(requirement.values, ", ");
        case api::SelectorOperator::Lt:
            return "label " + requirement.key + " below " + base::joined(requirement.values, ", ");
        default:
            return "another value of label " + requirement.key;
    }
}

std::string words_of(const api::NodeSelectorTerm& term) {
    std::vector<std::string> demands;
    for (const auto& field : term.matchFields)
        demands.push_back((field.operator_ == api::SelectorOperator::NotIn ? "no node " : "node ") +
                          base::joined(field.values, ", "));
    for (const auto& requirement : term.matchExpressions) demands.push_back(words_of(requirement));
    return base::joined(demands, " and ");
}

std::string words_of(const api::NodeSelector& selector) {
    std::vector<std::string> terms;
    for (const auto& term : selector.nodeSelectorTerms) terms.push_back(words_of(term));
    return base::joined(terms, ", or ");
}

std::string words_of(const api::LabelSelector& selector) {
    std::vector<std::string> demands;
    if (!selector.matchLabels.empty()) demands.push_back(words_of(selector.matchLabels));
    for (const auto& requirement : selector.matchExpressions) demands.push_back(words_of(requirement));
    return base::joined(demands, " and ");
}

std::string words_of(const api::StringMap& labels) {
    std::vector<std::string> demands;
    for (const auto& [key, value] : labels) demands.push_back("label " + key + "=" + value);
    return base::joined(demands, " and ");
}

}  // namespace scheduling
