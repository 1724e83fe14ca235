// Stores the labels of nodes as columns of small numbers. A column is created when its key is first used, so
// labels without selectors cost nothing.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/selector.hpp"

namespace scheduling {

using KeyId = std::uint32_t;
using ValueId = std::uint32_t;         // number within its key
inline constexpr ValueId kAbsent = 0;  // the row lacks the label
// The row will have a value that differs from all others: for example the host name of a future node.
inline constexpr ValueId kUnlike = 1;
// This text in a row's labels means kUnlike. No label can have it, as it begins with a control character.
inline constexpr std::string_view kUnlikeText = "\x01unlike any other";

// LabelRow is a source of labels. `labels` takes precedence over `more`, which may be null. An empty name is
// not known yet. The pointees must outlive the table.
struct LabelRow {
    const api::StringMap* labels = nullptr;
    const api::StringMap* more = nullptr;
    std::string_view name;
};

class LabelTable {
public:
    explicit LabelTable(std::vector<LabelRow> rows) : rows_(std::move(rows)) {}

    std::size_t rows() const { return rows_.size(); }
    KeyId key(std::string_view name);
    // Returns the pseudo-label with a node's own name (the field metadata.name).
    KeyId name_key();
    // Returns one value per row.
    const std::vector<ValueId>& column(KeyId key) const { return columns_[key].values; }
    // Returns the number of values known for the key, including kAbsent and kUnlike.
    std::size_t values(KeyId key) const { return columns_[key].texts.size(); }
    const std::string& text(KeyId key, ValueId value) const { return columns_[key].texts[value]; }
    const std::string& name(KeyId key) const { return columns_[key].name; }
    // Returns, for each value of the key, whether the requirement accepts it.
    std::vector<bool> accepted(KeyId key, const api::SelectorRequirement& requirement) const;

private:
    struct Column {
        std::string name;
        std::vector<ValueId> values;
        std::vector<std::string> texts;
        std::unordered_map<std::string_view, ValueId> numbers;  // numbers of the texts in the rows
    };
    ValueId value_in(const LabelRow& row, Column& column) const;

    std::vector<LabelRow> rows_;
    std::deque<Column> columns_;
    std::unordered_map<std::string, KeyId> keys_;
};

}  // namespace scheduling
