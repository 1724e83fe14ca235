#include "scheduling/table/label_table.hpp"

#include <algorithm>

#include "api/names.hpp"

namespace scheduling {

namespace {

// No label can have this name, as it begins with a control character.
constexpr std::string_view kNameField = "\x01name";

bool differs_per_node(std::string_view key) {
    return key == api::labels::kHostname || key == api::labels::kClaim || key == kNameField;
}

}  // namespace

ValueId LabelTable::value_in(const LabelRow& row, Column& column) const {
    std::string_view text;
    if (column.name == kNameField) {
        if (row.name.empty()) return kUnlike;
        text = row.name;
    } else {
        const auto* found = api::find(*row.labels, column.name);
        if (!found && row.more) found = api::find(*row.more, column.name);
        if (!found) return row.name.empty() && differs_per_node(column.name) ? kUnlike : kAbsent;
        text = *found;
        if (text == kUnlikeText) return kUnlike;
    }
    const auto next = static_cast<ValueId>(column.texts.size());
    const auto [entry, added] = column.numbers.try_emplace(text, next);
    if (added) column.texts.emplace_back(text);
    return entry->second;
}

KeyId LabelTable::key(std::string_view name) {
    const auto next = static_cast<KeyId>(columns_.size());
    const auto [entry, added] = keys_.try_emplace(std::string(name), next);
    if (!added) return entry->second;
    auto& column = columns_.emplace_back();
    column.name = name;
    column.texts = {"", std::string(kUnlikeText)};
    column.values.reserve(rows_.size());
    for (const auto& row : rows_) column.values.push_back(value_in(row, column));
    return next;
}

KeyId LabelTable::name_key() {
    return key(kNameField);
}

std::vector<bool> LabelTable::accepted(KeyId key, const api::SelectorRequirement& requirement) const {
    const auto& column = columns_[key];
    std::vector<bool> verdict(column.texts.size());
    verdict[kAbsent] = api::matches(requirement, {});
    const bool is_list = requirement.operator_ == api::SelectorOperator::In ||
                         requirement.operator_ == api::SelectorOperator::NotIn;
    if (is_list) {
        const bool in = requirement.operator_ == api::SelectorOperator::In;
        std::fill(verdict.begin() + kUnlike, verdict.end(), !in);
        for (const auto& text : requirement.values)
            if (const auto found = column.numbers.find(text); found != column.numbers.end())
                verdict[found->second] = in;
        return verdict;
    }
    for (ValueId value = kUnlike; value < verdict.size(); ++value)
        verdict[value] = api::matches(requirement, {{requirement.key, column.texts[value]}});
    return verdict;
}

}  // namespace scheduling
