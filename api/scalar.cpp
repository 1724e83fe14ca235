#include "api/scalar.hpp"

#include <algorithm>
#include <boost/json/string.hpp>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "base/saturating.hpp"

namespace api {

namespace {

[[noreturn]] void mismatch(const Type& type) {
    throw Mismatch{std::string(expectation(type))};
}

void assign_integer(const Type& type, void* target, std::int64_t number) {
    if (type.shape == Shape::Text) return type.set_integer(target, number);
    type.set(target, std::clamp(number, type.min, type.max));
}

void assign_decimal(const Type& type, void* target, double number) {
    try {
        type.set_decimal(target, number);
    } catch (const std::invalid_argument& error) {
        throw Mismatch{error.what()};
    }
}

// Returns the nearest 64-bit integer. Boost.JSON reads larger integers as unsigned ones, and even larger ones
// as floating-point numbers. The API server stores such numbers for fields without a format.
std::optional<std::int64_t> integer_in(const json::value& scalar) {
    if (const auto* number = scalar.if_int64()) return *number;
    if (const auto* number = scalar.if_uint64()) return base::Saturating(*number);
    const auto* number = scalar.if_double();
    if (!number || std::trunc(*number) != *number) return std::nullopt;
    return base::Saturating(*number);
}

bool assign_enum(const Type& type, void* target, std::string_view name) {
    if (set_enum(type, target, name))
        return !type.unrecognized || type.get_enum(target) != *type.unrecognized;
    std::string why = "unknown value, expected one of";
    for (const Enumerator& enumerator : type.enumerators) why += " " + std::string(enumerator.name);
    throw Mismatch{why};
}

}  // namespace

std::string_view expectation(const Type& type) {
    switch (type.shape) {
        case Shape::Object:
        case Shape::Map:
            return "expected an object";
        case Shape::List:
            return "expected an array";
        case Shape::Boolean:
            return "expected a boolean";
        case Shape::Integer:
            return "expected an integer";
        case Shape::Text:
            return type.set_integer ? "expected an integer or a string" : "expected a string";
        case Shape::Optional:
            return expectation(*type.element);
        case Shape::Enum:
        case Shape::String:
        case Shape::Any:
            break;
    }
    return "expected a string";
}

bool assign_string(const Type& type, void* target, std::string_view text) {
    switch (type.shape) {
        case Shape::String:
            as<std::string>(target) = text;
            return true;
        case Shape::Text:
            try {
                type.parse(target, text);
                return true;
            } catch (const std::invalid_argument& error) {
                throw Mismatch{error.what()};
            }
        case Shape::Enum:
            return assign_enum(type, target, text);
        case Shape::Any:
            as<json::value>(target) = json::string_view(text.data(), text.size());
            return true;
        case Shape::Optional:
            return assign_string(*type.element, type.emplace(target), text);
        default:
            mismatch(type);
    }
}

void assign_scalar(const Type& type, void* target, const json::value& scalar) {
    if (type.shape == Shape::Optional) {
        if (scalar.is_null()) return type.clear(target);
        return assign_scalar(*type.element, type.emplace(target), scalar);
    }
    if (type.shape == Shape::Any) {
        as<json::value>(target) = scalar;
    } else if (type.shape == Shape::Boolean && scalar.is_bool()) {
        as<bool>(target) = scalar.get_bool();
    } else if (type.shape == Shape::Integer || type.set_integer) {
        const auto number = integer_in(scalar);
        if (number) return assign_integer(type, target, *number);
        if (!type.set_decimal || !scalar.is_double()) mismatch(type);
        assign_decimal(type, target, scalar.get_double());
    } else {
        mismatch(type);
    }
}

}  // namespace api
