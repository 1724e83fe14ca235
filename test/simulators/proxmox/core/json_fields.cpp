#include "test/simulators/proxmox/core/json_fields.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <stdexcept>

namespace proxmox_simulator {

Fields::Fields(const json::value& value, std::string context)
    : object_(value.if_object()), context_(std::move(context)) {
    if (!object_) throw std::invalid_argument(context_ + ": an object is expected");
}

void Fields::complain(std::string_view name, const char* expected) const {
    throw std::invalid_argument(context_ + "." + std::string(name) + ": " + expected);
}

std::string Fields::text(std::string_view name) const {
    const auto* value = object_->if_contains(name);
    if (!value || !value->is_string()) complain(name, "a string is expected");
    return std::string(value->as_string());
}

std::string Fields::text(std::string_view name, std::string otherwise) const {
    return has(name) ? text(name) : std::move(otherwise);
}

double Fields::number(std::string_view name, double otherwise) const {
    const auto* value = object_->if_contains(name);
    if (!value) return otherwise;
    if (!value->is_number()) complain(name, "a number is expected");
    return value->to_number<double>();
}

bool Fields::flag(std::string_view name, bool otherwise) const {
    const auto* value = object_->if_contains(name);
    if (!value) return otherwise;
    if (!value->is_bool()) complain(name, "true or false is expected");
    return value->as_bool();
}

std::string Fields::scalar(std::string_view name) const {
    const auto& value = object_->at(name);
    if (value.is_string()) return std::string(value.as_string());
    if (value.is_bool()) return value.as_bool() ? "1" : "0";
    if (!value.is_number()) complain(name, "a string, number or boolean is expected");
    return json::serialize(value);
}

const json::array* Fields::find_array(std::string_view name) const {
    const auto* value = object_->if_contains(name);
    if (!value) return nullptr;
    if (!value->is_array()) complain(name, "a list is expected");
    return &value->as_array();
}

std::vector<std::string> Fields::texts(std::string_view name) const {
    std::vector<std::string> result;
    const auto* items = find_array(name);
    if (!items) return result;
    for (const auto& item : *items) {
        if (!item.is_string()) complain(name, "strings are expected");
        result.emplace_back(item.as_string());
    }
    return result;
}

std::vector<std::int64_t> Fields::integers(std::string_view name) const {
    std::vector<std::int64_t> result;
    const auto* items = find_array(name);
    if (!items) return result;
    for (const auto& item : *items) {
        if (!item.is_int64()) complain(name, "integers are expected");
        result.push_back(item.as_int64());
    }
    return result;
}

std::optional<Fields> Fields::find_object(std::string_view name) const {
    const auto* value = object_->if_contains(name);
    if (!value) return std::nullopt;
    return Fields(*value, context_ + "." + std::string(name));
}

std::optional<std::vector<Fields>> Fields::find_list(std::string_view name) const {
    const auto* items = find_array(name);
    if (!items) return std::nullopt;
    std::vector<Fields> result;
    for (const auto& item : *items) result.emplace_back(item, context_ + "." + std::string(name));
    return result;
}

}  // namespace proxmox_simulator
