#include "api/json.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/string.hpp>
#include <utility>

#include "api/stream_handler.hpp"
#include "api/type.hpp"

namespace api {

DecodeError::DecodeError(std::string at, std::string_view reason)
    : std::runtime_error((at.empty() ? "(root)" : at) + ": " + std::string(reason)),
      pointer(std::move(at)),
      why(reason) {}

namespace {

bool is_empty_container(const Type& type, const void* value) {
    return type.empty && type.empty(value);
}

bool is_left_out(const void* object, const Type& type, const FieldDescriptor& field) {
    const void* value = member(object, field);
    // A container that is empty here and by default can be omitted: it decodes to the same value.
    if (is_empty_container(*field.type, value) &&
        is_empty_container(*field.type, member(type.defaults, field)))
        return true;
    if (field.type->shape == Shape::Enum) return enum_name(*field.type, value).empty();
    return field.type->shape == Shape::Object &&
           std::ranges::all_of(field.type->fields, [value, &field](const FieldDescriptor& inner) {
               return is_left_out(value, *field.type, inner);
           });
}

json::value encode_object(const void* source, const Type& type) {
    json::object object;
    for (const FieldDescriptor& field : type.fields) {
        if (!is_left_out(source, type, field))
            object.emplace(field.name, encode_from(member(source, field), *field.type));
    }
    return object;
}

json::value encode_list(const void* source, const Type& type) {
    struct Context {
        json::array array;
        const Type& element;
    } context{{}, *type.element};
    type.each(source, &context, [](void* pointer, std::string_view, const void* element) {
        auto& list = as<Context>(pointer);
        list.array.push_back(encode_from(element, list.element));
    });
    return std::move(context.array);
}

json::value encode_map(const void* source, const Type& type) {
    struct Context {
        json::object object;
        const Type& element;
    } context{{}, *type.element};
    type.each(source, &context, [](void* pointer, std::string_view key, const void* element) {
        auto& map = as<Context>(pointer);
        map.object.emplace(key, encode_from(element, map.element));
    });
    return std::move(context.object);
}

json::value encode_optional(const void* source, const Type& type) {
    struct Context {
        json::value value;
        const Type& element;
    } context{nullptr, *type.element};
    type.each(source, &context, [](void* pointer, std::string_view, const void* element) {
        auto& optional = as<Context>(pointer);
        optional.value = encode_from(element, optional.element);
    });
    return std::move(context.value);
}

json::value encode_text(const void* source, const Type& type) {
    if (type.as_integer) {
        const auto number = type.as_integer(source);
        if (number) return *number;
    }
    return json::value(type.str(source));
}

}  // namespace

DecodeIssues decode_into(const json::value& document, void* object, const Type& type) {
    StreamHandler handler(object, type);
    handler.replay(document);
    return handler.take_issues();
}

json::value encode_from(const void* object, const Type& type) {
    switch (type.shape) {
        case Shape::Object:
            return encode_object(object, type);
        case Shape::List:
            return encode_list(object, type);
        case Shape::Map:
            return encode_map(object, type);
        case Shape::Optional:
            return encode_optional(object, type);
        case Shape::Text:
            return encode_text(object, type);
        case Shape::Any:
            return as<json::value>(object);
        case Shape::Boolean:
            return as<bool>(object);
        case Shape::Integer:
            return type.get(object);
        case Shape::Enum:
            return json::value(enum_name(type, object));
        case Shape::String:
            return json::value(as<std::string>(object));
    }
    return nullptr;
}

json::object merge_patch(const json::object& before, const json::object& after) {
    json::object patch;
    for (const auto& [key, value] : before)
        if (!after.contains(key)) patch[key] = nullptr;
    for (const auto& [key, value] : after) {
        const json::value* old = before.if_contains(key);
        if (!old) {
            patch[key] = value;
        } else if (value.is_object() && old->is_object()) {
            json::object nested = merge_patch(old->get_object(), value.get_object());
            if (!nested.empty()) patch[key] = std::move(nested);
        } else if (*old != value) {
            patch[key] = value;
        }
    }
    return patch;
}

json::object merge_patch_from(const void* before, const void* after, const Type& type) {
    json::object patch;
    for (const FieldDescriptor& field : type.fields)
        if (is_left_out(after, type, field) && !is_left_out(before, type, field)) patch[field.name] = nullptr;
    for (const FieldDescriptor& field : type.fields) {
        const void* old_value = member(before, field);
        const void* value = member(after, field);
        const bool is_same = field.type->equal && field.type->equal(old_value, value);
        if (is_same || is_left_out(after, type, field)) continue;
        if (is_left_out(before, type, field)) {
            patch[field.name] = encode_from(value, *field.type);
        } else if (field.type->shape == Shape::Object) {
            auto nested = merge_patch_from(old_value, value, *field.type);
            if (!nested.empty()) patch[field.name] = std::move(nested);
        } else {
            const auto old_member = json::object{{field.name, encode_from(old_value, *field.type)}};
            const auto new_member = json::object{{field.name, encode_from(value, *field.type)}};
            for (auto& [key, change] : merge_patch(old_member, new_member)) patch[key] = std::move(change);
        }
    }
    return patch;
}

}  // namespace api
