// Builds the description of a C++ type from Boost.Describe's member lists. Each struct costs a few
// instantiations of one-line functions. Only the .cpp files of api/ include it.
#pragma once
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "api/shared.hpp"
#include "api/type.hpp"

namespace api {

namespace detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<Shared<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;

template <class T>
concept TextLike = requires(const T& value) {
    { T::parse(std::string_view()) } -> std::same_as<T>;
    { value.str() } -> std::same_as<std::string>;
};
template <class T>
concept IntegerOrText = TextLike<T> && requires(const T& value) {
    { T::from_integer(std::int64_t{}) } -> std::same_as<T>;
    { value.as_integer() } -> std::same_as<std::optional<std::int64_t>>;
};

constexpr std::string_view json_name(std::string_view cpp_name) {
    if (cpp_name.ends_with('_')) cpp_name.remove_suffix(1);
    return cpp_name;
}

template <class T>
Type describe_object() {
    static const T defaults{};
    Type type(Shape::Object);
    type.defaults = &defaults;
    using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
    boost::mp11::mp_for_each<Members>([&](auto descriptor) {
        using Member = std::remove_cvref_t<decltype(defaults.*descriptor.pointer)>;
        const auto* start = reinterpret_cast<const char*>(&defaults);
        const auto* place = reinterpret_cast<const char*>(&(defaults.*descriptor.pointer));
        type.fields.push_back(
            {json_name(descriptor.name), static_cast<std::size_t>(place - start), &type_of<Member>()});
    });
    return type;
}

template <class T>
Type describe_list() {
    Type type(Shape::List, &type_of<typename T::value_type>());
    type.append = [](void* list) -> void* { return &as<T>(list).emplace_back(); };
    type.clear = [](void* list) { as<T>(list).clear(); };
    type.empty = [](const void* list) { return as<T>(list).empty(); };
    type.each = [](const void* list, void* context, Type::Visitor visit) {
        for (const auto& element : as<T>(list)) visit(context, {}, &element);
    };
    type.retain = [](void* list, void* context, Type::Filter keep) {
        // A new list is built: erased in place, a short text in a long one's place would keep its memory.
        T kept;
        for (auto& element : as<T>(list))
            if (keep(context, {}, &element)) kept.push_back(std::move(element));
        kept.shrink_to_fit();
        as<T>(list) = std::move(kept);
    };
    return type;
}

template <class T>
Type describe_map() {
    Type type(Shape::Map, &type_of<typename T::mapped_type>());
    type.insert = [](void* map, std::string_view key) -> void* { return &as<T>(map)[std::string(key)]; };
    type.clear = [](void* map) { as<T>(map).clear(); };
    type.empty = [](const void* map) { return as<T>(map).empty(); };
    type.each = [](const void* map, void* context, Type::Visitor visit) {
        for (const auto& [key, element] : as<T>(map)) visit(context, key, &element);
    };
    type.retain = [](void* map, void* context, Type::Filter keep) {
        auto& entries = as<T>(map);
        for (auto next = entries.begin(); next != entries.end();)
            next = keep(context, next->first, &next->second) ? std::next(next) : entries.erase(next);
    };
    return type;
}

template <class T>
Type describe_optional() {
    Type type(Shape::Optional, &type_of<typename T::value_type>());
    type.emplace = [](void* optional) -> void* { return &as<T>(optional).emplace(); };
    type.clear = [](void* optional) { as<T>(optional).reset(); };
    type.empty = [](const void* optional) { return !as<T>(optional).has_value(); };
    type.each = [](const void* optional, void* context, Type::Visitor visit) {
        if (as<T>(optional).has_value()) visit(context, {}, &*as<T>(optional));
    };
    type.retain = [](void* optional, void* context, Type::Filter keep) {
        auto& value = as<T>(optional);
        if (value.has_value() && !keep(context, {}, &*value)) value.reset();
    };
    return type;
}

template <class T>
Type describe_shared() {
    using Value = typename T::value_type;
    Type type = describe_optional<T>();
    type.shared = [](const void* value) -> std::shared_ptr<const void> { return as<T>(value).pointer(); };
    type.share = [](void* value, const std::shared_ptr<const void>& other) {
        as<T>(value).share(std::static_pointer_cast<const Value>(other));
    };
    return type;
}

template <class T>
Type describe_enum() {
    Type type(Shape::Enum);
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto descriptor) {
        const std::string_view name = descriptor.name;
        const int number = static_cast<int>(descriptor.value);
        if (name == "Unrecognized")
            type.unrecognized = number;
        else
            type.enumerators.push_back({name, number});
    });
    type.get_enum = [](const void* value) { return static_cast<int>(as<T>(value)); };
    type.set_enum = [](void* value, int number) { as<T>(value) = static_cast<T>(number); };
    return type;
}

template <class T>
Type describe_text() {
    Type type(Shape::Text);
    type.parse = [](void* value, std::string_view text) { as<T>(value) = T::parse(text); };
    type.str = [](const void* value) { return as<T>(value).str(); };
    if constexpr (IntegerOrText<T>) {
        type.set_integer = [](void* value, std::int64_t number) { as<T>(value) = T::from_integer(number); };
        type.as_integer = [](const void* value) { return as<T>(value).as_integer(); };
    }
    if constexpr (requires { T::from_decimal(0.5); })
        type.set_decimal = [](void* value, double number) { as<T>(value) = T::from_decimal(number); };
    return type;
}

template <class T>
Type describe_integer() {
    static_assert(std::is_integral_v<T> && std::is_signed_v<T>);
    Type type(Shape::Integer);
    type.min = std::numeric_limits<T>::min();
    type.max = std::numeric_limits<T>::max();
    type.get = [](const void* value) { return static_cast<std::int64_t>(as<T>(value)); };
    type.set = [](void* value, std::int64_t number) { as<T>(value) = static_cast<T>(number); };
    return type;
}

template <class T>
Type describe() {
    if constexpr (std::is_same_v<T, json::value>) {
        return Type(Shape::Any);
    } else if constexpr (std::is_same_v<T, std::string>) {
        Type type(Shape::String);
        type.empty = [](const void* text) { return as<std::string>(text).empty(); };
        return type;
    } else if constexpr (std::is_same_v<T, bool>) {
        return Type(Shape::Boolean);
    } else if constexpr (kIsShared<T>) {
        return describe_shared<T>();
    } else if constexpr (kIsOptional<T>) {
        return describe_optional<T>();
    } else if constexpr (kIsList<T>) {
        return describe_list<T>();
    } else if constexpr (kIsMap<T>) {
        return describe_map<T>();
    } else if constexpr (TextLike<T>) {
        return describe_text<T>();
    } else if constexpr (std::is_enum_v<T>) {
        return describe_enum<T>();
    } else if constexpr (std::is_class_v<T>) {
        return describe_object<T>();
    } else {
        return describe_integer<T>();
    }
}

template <class T>
Type describe_with_equality() {
    Type type = describe<T>();
    type.bytes = sizeof(T);
    if constexpr (std::equality_comparable<T>) {
        type.equal = [](const void* one, const void* other) { return as<T>(one) == as<T>(other); };
    }
    return type;
}

}  // namespace detail

template <class T>
const Type& type_of() {
    static const Type type = detail::describe_with_equality<T>();
    return type;
}

}  // namespace api
