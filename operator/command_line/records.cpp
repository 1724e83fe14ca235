#include "operator/command_line/records.hpp"

#include <boost/json/object.hpp>

#include "operator/command_line/formats.hpp"
#include "operator/command_line/table.hpp"

namespace kubenodesmith {
namespace {

std::string cell_of(const boost::json::value& value) {
    if (const auto* text = value.if_string()) return std::string(*text);
    if (value.is_null()) return {};
    if (value.is_bool()) return value.get_bool() ? "yes" : "no";
    return to_pretty_json(value);
}

}  // namespace

void Records::add(boost::json::array values) {
    values.resize(columns_.size());
    rows_.push_back(std::move(values));
}

std::string Records::table() const {
    std::vector<std::string> headings;
    for (const auto& column : columns_)
        if (*column.heading) headings.emplace_back(column.heading);
    Table table(headings);
    for (const auto& row : rows_) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < columns_.size(); ++i)
            if (*columns_[i].heading) cells.push_back(cell_of(row[i]));
        table.add(std::move(cells));
    }
    return table.str();
}

boost::json::array Records::objects() const {
    boost::json::array all;
    for (const auto& row : rows_) {
        boost::json::object object;
        for (std::size_t i = 0; i < columns_.size(); ++i)
            if (*columns_[i].key) object[columns_[i].key] = row[i];
        all.push_back(std::move(object));
    }
    return all;
}

}  // namespace kubenodesmith
