// Rows of named values that are printed as a table for people and as objects for programs.
#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <vector>

namespace kubenodesmith {

class Records {
public:
    struct Column {
        const char* heading;  // in the table; empty: no such column
        const char* key;      // in the objects; empty: no such member
    };
    explicit Records(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // Adds a row with one value per column.
    void add(boost::json::array values);
    bool empty() const { return rows_.empty(); }
    std::string table() const;
    boost::json::array objects() const;

private:
    std::vector<Column> columns_;
    std::vector<boost::json::array> rows_;
};

}  // namespace kubenodesmith
