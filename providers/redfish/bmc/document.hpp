// Reads a BMC's answers without trusting them: any property may be missing, null or of another type.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace providers::redfish {

namespace json = boost::json;

// Returns the body as an object. Removes what some BMCs add: a byte order mark before it, and blanks and
// zeros after it. nullopt: it is no object, and `why` says at which byte.
std::optional<json::object> read_object(std::string_view body, std::string& why);
// Does the same for any content. The result is empty if it is no JSON object (HTML error pages, empty
// bodies).
json::object parse_object(std::string_view body);

// Returns the member, or an empty object, array or string if it is absent or of another type.
const json::object& object_at(const json::object& parent, std::string_view name);
const json::array& array_at(const json::object& parent, std::string_view name);
std::string text_at(const json::object& parent, std::string_view name);
// Accepts floats as well (memory in GiB may be 31.5). Returns nullopt for null, text and negative numbers.
std::optional<double> number_at(const json::object& parent, std::string_view name);
bool is_true_at(const json::object& parent, std::string_view name);

// Returns parent[name]["@odata.id"].
std::string link_at(const json::object& parent, std::string_view name);
// Returns the "@odata.id" of every entry of parent[name].
std::vector<std::string> links_at(const json::object& parent, std::string_view name);
// Returns the texts of the array parent[name].
std::vector<std::string> texts_at(const json::object& parent, std::string_view name);

// Compares without case, as vendors differ: "Contoso Inc." contains "contoso".
bool contains_ignoring_case(std::string_view text, std::string_view part);
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace providers::redfish
