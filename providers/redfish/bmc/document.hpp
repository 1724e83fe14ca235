// Reading what a BMC answers without trusting it: any property may be missing, null or of another type.
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

// The body as an object, without what some BMCs put around it: a byte order mark, and blanks and zeros after
// it. nullopt: it is none, and `why` says at which byte it ends to be one.
std::optional<json::object> read_object(std::string_view body, std::string& why);
// The same of what may be anything: empty if it is not a JSON object (HTML error pages, empty bodies).
json::object parse_object(std::string_view body);

// The member, or an empty object, array or string if it is absent or of another type.
const json::object& object_at(const json::object& parent, std::string_view name);
const json::array& array_at(const json::object& parent, std::string_view name);
std::string text_at(const json::object& parent, std::string_view name);
// Also from a float (memory in GiB may be 31.5); nullopt for null, text and negative numbers.
std::optional<double> number_at(const json::object& parent, std::string_view name);
bool is_true_at(const json::object& parent, std::string_view name);

// parent[name]["@odata.id"].
std::string link_at(const json::object& parent, std::string_view name);
// The "@odata.id" of every entry of parent[name].
std::vector<std::string> links_at(const json::object& parent, std::string_view name);
// The texts of the array parent[name].
std::vector<std::string> texts_at(const json::object& parent, std::string_view name);

// Vendors differ in case: "Contoso Inc." contains "contoso".
bool contains_ignoring_case(std::string_view text, std::string_view part);
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace providers::redfish
