// The mapping of C++ types to JSON as data: one Type per C++ type, built once (api/describe.hpp). Decoding,
// encoding, streaming and schema checks are ordinary functions over this data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.hpp"

namespace api {

enum class Shape {
    Object,    // described struct
    List,      // std::vector
    Map,       // std::map with string keys
    Optional,  // std::optional, Shared; absent in JSON when empty
    Enum,      // described enum, a string in JSON
    Text,      // a class with parse() and str(), a string in JSON
    String,
    Boolean,
    Integer,
    Any,  // json::value, unchanged
};

struct FieldDescriptor {
    std::string_view name;  // in JSON
    std::size_t offset;     // in the struct
    const Type* type;
};

struct Enumerator {
    std::string_view name;
    int value;
};

struct Type {
    explicit Type(Shape kind, const Type* of = nullptr) : shape(kind), element(of) {}

    Shape shape;
    const Type* element;    // of List, Map, Optional
    std::size_t bytes = 0;  // size of a value itself, without what it points to

    // Object:
    std::vector<FieldDescriptor> fields;  // in order of declaration
    const void* defaults = nullptr;

    // List: append returns the new element. Map: insert returns the element of that key. Optional: emplace
    // returns the value. All values are default-constructed.
    void* (*append)(void* list) = nullptr;
    void* (*insert)(void* map, std::string_view key) = nullptr;
    void* (*emplace)(void* optional) = nullptr;
    void (*clear)(void* container) = nullptr;
    bool (*empty)(const void* container) = nullptr;  // also of String
    // Calls visit(context, key, element) for each element in order; the key is empty except in a Map.
    using Visitor = void (*)(void* context, std::string_view key, const void* element);
    void (*each)(const void* container, void* context, Visitor visit) = nullptr;

    // Calls keep(context, key, element) for each element in order. It may change the element, and removes it
    // by returning false.
    using Filter = bool (*)(void* context, std::string_view key, void* element);
    void (*retain)(void* container, void* context, Filter keep) = nullptr;

    // Shared only, otherwise null. They return its pointer and set it to another one.
    std::shared_ptr<const void> (*shared)(const void* value) = nullptr;
    void (*share)(void* value, const std::shared_ptr<const void>& other) = nullptr;

    // Null for types that cannot be compared.
    bool (*equal)(const void* one, const void* other) = nullptr;

    // Enum:
    std::vector<Enumerator> enumerators;
    std::optional<int> unrecognized;  // value for an unknown name; empty: an error
    int (*get_enum)(const void* value) = nullptr;
    void (*set_enum)(void* value, int number) = nullptr;

    // Text: parse throws std::invalid_argument.
    void (*parse)(void* value, std::string_view text) = nullptr;
    std::string (*str)(const void* value) = nullptr;
    // Text that may also be an integer in JSON (IntOrString, Quantity); otherwise null.
    void (*set_integer)(void* value, std::int64_t number) = nullptr;
    // Text that may also be a fraction in JSON (Quantity): throws std::invalid_argument; otherwise null.
    void (*set_decimal)(void* value, double number) = nullptr;
    // Returns the integer if it is one in JSON.
    std::optional<std::int64_t> (*as_integer)(const void* value) = nullptr;

    // Integer:
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t (*get)(const void* value) = nullptr;
    void (*set)(void* value, std::int64_t number) = nullptr;
};

// Returns nullptr if there is no field with that name.
const FieldDescriptor* find_field(const Type& object, std::string_view name);
// Assigns the enumerator with that name. Returns false if it does not exist.
bool set_enum(const Type& type, void* value, std::string_view name);

inline void* member(void* object, const FieldDescriptor& field) {
    return static_cast<char*>(object) + field.offset;
}
inline const void* member(const void* object, const FieldDescriptor& field) {
    return static_cast<const char*>(object) + field.offset;
}

template <class T>
T& as(void* value) {
    return *static_cast<T*>(value);
}
template <class T>
const T& as(const void* value) {
    return *static_cast<const T*>(value);
}

}  // namespace api
