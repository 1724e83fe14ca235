#include "test/simulators/proxmox/core/validate.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <stdexcept>

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/formats.hpp"
#include "test/simulators/proxmox/core/property_string.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

constexpr const char* kUnknown =
    "property is not defined in schema and the schema does not allow additional properties";
constexpr const char* kMissing = "property is missing and it is not optional";

void check_presence(const Schema& schema, const json::object& values, json::object& errors);
void check_text(const Property& property, const std::string& name, const std::string& value,
                json::object& errors);

bool is_number(std::string_view text) {
    return matches(R"([+-]?(\d+\.\d+|\d+\.|\.\d+|\d+)([eE][+-]?\d+)?)", text);
}

std::string wrong_type(std::string_view type, std::string_view value) {
    return "type check ('" + std::string(type) + "') failed - got '" + std::string(value) + "'";
}

void check_group(const Schema& group, const std::string& name, const std::string& value,
                 json::object& errors) {
    Properties properties;
    try {
        properties = parse_properties(group, value);
    } catch (const std::invalid_argument& complaint) {
        errors[name] = "invalid format - " + std::string(complaint.what()) + "\n";
        return;
    }
    json::object values;
    for (const auto& [key, text] : properties) values[key] = text;
    json::object inner;
    check_presence(group, values, inner);
    for (const auto& [key, text] : properties) {
        if (const auto* property = group.find(key)) check_text(*property, key, text, inner);
    }
    if (inner.empty()) return;
    std::string complaint = "invalid format - format error\n";
    for (const auto& [key, reason] : inner) {
        complaint += name + "." + std::string(key) + ": " + std::string(reason.as_string()) + "\n";
    }
    errors[name] = complaint;
}

std::optional<std::string> check_range(const Property& property, const std::string& value) {
    if (!is_number(value)) return std::nullopt;
    auto number = std::stod(value);
    auto print = [](double limit) { return std::to_string(static_cast<std::int64_t>(limit)); };
    if (property.maximum && number > *property.maximum)
        return "value must have a maximum value of " + print(*property.maximum);
    if (property.minimum && number < *property.minimum)
        return "value must have a minimum value of " + print(*property.minimum);
    return std::nullopt;
}

std::optional<std::string> check_constraints(const Property& property, const std::string& value) {
    if (!property.format.empty()) {
        if (auto complaint = check_format(property.format, value)) return "invalid format - " + *complaint;
    }
    if (!property.pattern.empty() && !matches(property.pattern, value))
        return "value does not match the regex pattern";
    if (property.max_length && value.size() > *property.max_length)
        return "value may only be " + std::to_string(*property.max_length) + " characters long";
    if (property.min_length && value.size() < *property.min_length)
        return "value must be at least " + std::to_string(*property.min_length) + " characters long";
    if (auto complaint = check_range(property, value)) return complaint;
    bool listed = property.values.empty();
    for (const auto& allowed : property.values) listed = listed || allowed == value;
    if (!listed)
        return "value '" + value + "' does not have a value in the enumeration '" +
               join(property.values, ", ") + "'";
    return std::nullopt;
}

void check_text(const Property& property, const std::string& name, const std::string& value,
                json::object& errors) {
    if (property.type == Type::array) {
        errors[name] = wrong_type("array", value);
    } else if (property.type == Type::boolean && value != "0" && value != "1") {
        errors[name] = wrong_type("boolean", value);
    } else if (property.type == Type::integer && !matches(R"([+-]?\d+)", value)) {
        errors[name] = wrong_type("integer", value);
    } else if (property.type == Type::number && !is_number(value)) {
        errors[name] = wrong_type("number", value);
    } else if (property.group) {
        check_group(*property.group, name, value, errors);
    } else if (auto complaint = check_constraints(property, value)) {
        errors[name] = *complaint;
    }
}

void check_items(const Schema& group, const std::string& name, const json::array& items,
                 json::object& errors) {
    for (std::size_t i = 0; i < items.size(); ++i)
        check_group(group, name + "[" + std::to_string(i) + "]", std::string(items[i].as_string()), errors);
}

void check_presence(const Schema& schema, const json::object& values, json::object& errors) {
    for (const auto& [name, property] : schema.properties()) {
        if (property.required && !values.contains(name)) errors[name] = kMissing;
    }
    for (const auto& [name, value] : values) {
        const auto* property = schema.find(name);
        if (!property) {
            if (!schema.is_open()) errors[name] = kUnknown;
        } else if (!property->requires_.empty() && !values.contains(property->requires_)) {
            errors[property->requires_] = "missing property required by '" + std::string(name) + "'";
        }
    }
}

std::string scalar_text(const json::value& value) {
    if (value.is_string()) return std::string(value.as_string());
    if (value.is_bool()) return value.as_bool() ? "1" : "0";
    return json::serialize(value);
}

// Converts the two forms that Proxmox accepts. A scalar becomes an array of one where an array is due. An
// array is joined with commas where a list in a string is due.
json::value normalise(const Property& property, const json::value& value) {
    if (property.type == Type::array) {
        // Proxmox does not wrap values that are false in Perl.
        if (value.is_string() && (value.as_string().empty() || value.as_string() == "0")) return value;
        json::array items;
        if (!value.is_array())
            items.emplace_back(scalar_text(value));
        else
            for (const auto& item : value.as_array()) items.emplace_back(scalar_text(item));
        return items;
    }
    if (value.is_array() && property.format.ends_with("-list")) {
        std::vector<std::string> items;
        for (const auto& item : value.as_array()) items.push_back(scalar_text(item));
        return json::value(join(items, ","));
    }
    if (value.is_array() || value.is_object()) return value;
    return json::value(scalar_text(value));
}

}  // namespace

json::object validate(const Schema& schema, const json::object& parameters) {
    json::object values, errors;
    for (const auto& [name, value] : parameters) {
        if (value.is_null()) continue;
        const auto* property = schema.find(name);
        values[name] = property ? normalise(*property, value) : value;
        if (property && value.is_bool() && property->type != Type::boolean) {
            errors[name] = wrong_type("string", value.as_bool() ? "true" : "false");
        }
    }
    check_presence(schema, values, errors);
    for (const auto& [name, value] : values) {
        const auto* property = schema.find(name);
        if (!property || errors.contains(name)) continue;
        if (value.is_string()) {
            check_text(*property, std::string(name), std::string(value.as_string()), errors);
        } else if (property->type == Type::array && property->group && value.is_array()) {
            check_items(*property->group, std::string(name), value.as_array(), errors);
        } else if (property->type != Type::array) {
            errors[name] = wrong_type("string", json::serialize(value));
        }
    }
    if (!errors.empty()) throw parameter_errors(std::move(errors));
    return values;
}

}  // namespace proxmox_simulator
