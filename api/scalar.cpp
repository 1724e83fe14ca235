#include "api/scalar.hpp"

#include <boost/json/string.hpp>
#include <stdexcept>

namespace api {

namespace {

[[noreturn]] void mismatch(const Type& type) {
    throw Mismatch{std::string(expectation(type))};
}

void assign_integer(const Type& type, void* target, std::int64_t number) {
    if (type.shape == Shape::Text) return type.set_integer(target, number);
    if (number < type.min || number > type.max) throw Mismatch{"number out of range"};
    type.set(target, number);
}

void assign_enum(const Type& type, void* target, std::string_view name) {
    if (set_enum(type, target, name)) return;
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

void assign_string(const Type& type, void* target, std::string_view text) {
    switch (type.shape) {
        case Shape::String:
            as<std::string>(target) = text;
            return;
        case Shape::Text:
            try {
                return type.parse(target, text);
            } catch (const std::invalid_argument& error) {
                throw Mismatch{error.what()};
            }
        case Shape::Enum:
            return assign_enum(type, target, text);
        case Shape::Any:
            as<json::value>(target) = json::string_view(text.data(), text.size());
            return;
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
        // Boost.JSON has unsigned numbers only where a signed one does not fit.
        if (scalar.is_uint64()) throw Mismatch{"number out of range"};
        if (!scalar.is_int64()) mismatch(type);
        assign_integer(type, target, scalar.get_int64());
    } else {
        mismatch(type);
    }
}

}  // namespace api
