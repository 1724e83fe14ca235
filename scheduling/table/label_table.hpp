// The labels of nodes as columns of small numbers. A column is made when something first asks for its key,
// so labels that nobody selects by cost nothing.
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
using ValueId = std::uint32_t;  // of its key
inline constexpr ValueId kAbsent = 0;
// A value that is not known yet and equals no other: the host name of a node to come.
inline constexpr ValueId kUnlike = 1;

// Where labels are read from. `labels` wins over `more`, which may be null. An empty name is one that is not
// known yet. The pointees outlive the table.
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
    // The pseudo-label that holds a node's own name (the field metadata.name).
    KeyId name_key();
    // One value per row.
    const std::vector<ValueId>& column(KeyId key) const { return columns_[key].values; }
    // The number of values known for the key, with kAbsent and kUnlike.
    std::size_t values(KeyId key) const { return columns_[key].texts.size(); }
    const std::string& text(KeyId key, ValueId value) const { return columns_[key].texts[value]; }
    const std::string& name(KeyId key) const { return columns_[key].name; }
    // For each value of the key whether the requirement accepts it.
    std::vector<bool> accepted(KeyId key, const api::SelectorRequirement& requirement) const;

private:
    struct Column {
        std::string name;
        std::vector<ValueId> values;
        std::vector<std::string> texts;
        std::unordered_map<std::string_view, ValueId> numbers;  // of texts in the rows
    };
    ValueId value_in(const LabelRow& row, Column& column) const;

    std::vector<LabelRow> rows_;
    std::deque<Column> columns_;
    std::unordered_map<std::string, KeyId> keys_;
};

}  // namespace scheduling
