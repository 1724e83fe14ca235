#include "providers/proxmox/wire/fields.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstdlib>

namespace providers::proxmox {

std::string text_of(const json::value& value) {
    if (value.is_null()) return {};
    if (value.is_string()) return std::string(value.get_string());
    if (value.is_bool()) return value.get_bool() ? "1" : "0";
    return json::serialize(value);
}

std::string text_of(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value ? text_of(*value) : std::string();
}

std::int64_t mib_of(const json::object& object, std::string_view key) {
    constexpr std::int64_t kBytesPerMiB = 1024 * 1024;
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    return std::clamp<std::int64_t>(integer_of(object, key) / kBytesPerMiB, 0, kMost);
}

double number_of(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    if (!value) return 0;
    if (value->is_double()) return value->get_double();
    if (value->is_int64()) return static_cast<double>(value->get_int64());
    if (value->is_uint64()) return static_cast<double>(value->get_uint64());
    const auto number = std::strtod(text_of(*value).c_str(), nullptr);
    return std::isfinite(number) ? number : 0;
}

std::int64_t integer_of(const json::object& object, std::string_view key) {
    const auto number = number_of(object, key);
    constexpr double kLimit = 9e18;
    return number > -kLimit && number < kLimit ? static_cast<std::int64_t>(number) : 0;
}

bool flag_of(const json::object& object, std::string_view key) {
    return integer_of(object, key) != 0;
}

std::vector<const json::object*> objects_of(const json::value& value) {
    std::vector<const json::object*> objects;
    if (!value.is_array()) return objects;
    for (const auto& element : value.get_array()) {
        if (element.is_object()) objects.push_back(&element.get_object());
    }
    return objects;
}

}  // namespace providers::proxmox
