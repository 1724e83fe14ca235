// Makes many objects share their equal parts, as pods of a workload differ in little more than their names.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_set>

#include "api/json.hpp"
#include "api/type.hpp"

namespace api {

// SharedParts knows the parts of living objects and forgets unused ones. It is not thread-safe.
class SharedParts {
public:
    // Shares each Shared member of the object, and of objects inside it, with an equal one seen before.
    template <class T>
    void share(T& object) {
        share_members(&object, type_of<T>());
    }
    // Includes unused parts that are not forgotten yet.
    std::size_t size() const { return parts_.size(); }

private:
    struct Part {
        const Type* type;
        std::shared_ptr<const void> value;
        std::size_t hash;
        bool operator==(const Part& other) const {
            return type == other.type && hash == other.hash && type->equal(value.get(), other.value.get());
        }
    };
    struct HashOfPart {
        std::size_t operator()(const Part& part) const { return part.hash; }
    };

    void share_members(void* object, const Type& type);
    void share_part(void* part, const Type& type);
    void forget_unused();

    std::unordered_set<Part, HashOfPart> parts_;
    std::size_t enough_ = 1000;  // size at which unused parts are searched
};

}  // namespace api
