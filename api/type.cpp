#include "api/type.hpp"

namespace api {

const FieldDescriptor* find_field(const Type& object, std::string_view name) {
    for (const FieldDescriptor& field : object.fields)
        if (field.name == name) return &field;
    return nullptr;
}

bool set_enum(const Type& type, void* value, std::string_view name) {
    for (const Enumerator& enumerator : type.enumerators) {
        if (enumerator.name != name) continue;
        type.set_enum(value, enumerator.value);
        return true;
    }
    if (!type.unrecognized) return false;
    type.set_enum(value, *type.unrecognized);
    return true;
}

std::string_view enum_name(const Type& type, const void* value) {
    const int number = type.get_enum(value);
    for (const Enumerator& enumerator : type.enumerators)
        if (enumerator.value == number) return enumerator.name;
    return {};
}

}  // namespace api
