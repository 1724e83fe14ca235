#include "api/shared_parts.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

namespace api {

namespace {

std::size_t hash_of(const void* value, const Type& type);

class Hash {
public:
    void add(std::size_t hash) { state_ = (state_ ^ hash) * 0x9e3779b97f4a7c15 + 1; }
    void add(std::string_view text) { add(std::hash<std::string_view>()(text)); }
    void add_elements(const void* container, const Type& type) {
        struct Context {
            Hash& hash;
            const Type& element;
        } context{*this, *type.element};
        type.each(container, &context, [](void* pointer, std::string_view key, const void* element) {
            const auto& given = as<Context>(pointer);
            given.hash.add(key);
            given.hash.add(hash_of(element, given.element));
        });
    }
    std::size_t result() const { return state_; }

private:
    std::size_t state_ = 0;
};

// Returns equal hashes for equal values if they are written alike: "1Gi" and "1024Mi" remain two values.
std::size_t hash_of(const void* value, const Type& type) {
    Hash hash;
    switch (type.shape) {
        case Shape::Object:
            for (const FieldDescriptor& field : type.fields)
                hash.add(hash_of(member(value, field), *field.type));
            break;
        case Shape::List:
        case Shape::Map:
        case Shape::Optional:
            hash.add_elements(value, type);
            break;
        case Shape::Enum:
            hash.add(static_cast<std::size_t>(type.get_enum(value)));
            break;
        case Shape::Text:
            hash.add(type.str(value));
            break;
        case Shape::String:
            hash.add(as<std::string>(value));
            break;
        case Shape::Boolean:
            hash.add(static_cast<std::size_t>(as<bool>(value)));
            break;
        case Shape::Integer:
            hash.add(static_cast<std::size_t>(type.get(value)));
            break;
        case Shape::Any:
            break;
    }
    return hash.result();
}

}  // namespace

void SharedParts::share_members(void* object, const Type& type) {
    for (const FieldDescriptor& field : type.fields) {
        void* value = member(object, field);
        if (field.type->share)
            share_part(value, *field.type);
        else if (field.type->shape == Shape::Object)
            share_members(value, *field.type);
    }
}

void SharedParts::share_part(void* part, const Type& type) {
    if (type.empty(part)) return type.clear(part);
    const Type& value = *type.element;
    auto pointer = type.shared(part);
    const auto hash = hash_of(pointer.get(), value);
    const auto [known, added] = parts_.insert({&value, std::move(pointer), hash});
    if (!added) return type.share(part, known->value);
    if (parts_.size() >= enough_) forget_unused();
}

void SharedParts::forget_unused() {
    std::erase_if(parts_, [](const Part& part) { return part.value.use_count() == 1; });
    enough_ = std::max<std::size_t>(1000, 2 * parts_.size());
}

}  // namespace api
