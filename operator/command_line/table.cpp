#include "operator/command_line/table.hpp"

#include <algorithm>
#include <cstddef>

namespace kubenodesmith {
namespace {

// Counts the characters of UTF-8 text, not its bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
    cells.resize(rows_.front().size());
    for (auto& cell : cells) {
        std::ranges::replace(cell, '\n', ' ');
        if (cell.empty()) cell = "-";
    }
    rows_.push_back(std::move(cells));
}

std::string Table::str() const {
    constexpr std::size_t kGap = 3;
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    std::string text;
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size()) text.append(widths[i] + kGap - width_of(row[i]), ' ');
        }
        text += "\n";
    }
    return text;
}

}  // namespace kubenodesmith
