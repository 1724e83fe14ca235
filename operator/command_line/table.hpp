// A table of text whose columns are as wide as what is in them.
#pragma once

#include <string>
#include <vector>

namespace kubenodesmith {

class Table {
public:
    explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

    // As many cells as there are headings; an empty one is shown as "-". What would break a line is shown as
    // a blank.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.size() == 1; }
    // The lines, headings first, each ended by a line feed.
    std::string str() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace kubenodesmith
