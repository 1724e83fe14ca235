// Reads a text member of a JSON object.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace simulation {

// Returns the text, or "" for any other value.
inline std::string text_at(const boost::json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : "";
}

}  // namespace simulation
