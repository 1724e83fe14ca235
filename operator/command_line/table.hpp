// A text table. Each column is as wide as its widest cell.
#pragma once

#include <string>
#include <vector>

namespace kubenodesmith {

class Table {
public:
    explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

    // Adds a row with one cell per heading. It shows an empty cell as "-" and a line feed as a space.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.size() == 1; }
    // Returns the lines, headings first. Each line ends with a line feed.
    std::string str() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace kubenodesmith
