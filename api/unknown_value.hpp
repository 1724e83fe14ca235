// Enum values of a newer version that this version does not know.
#pragma once
#include <string>

namespace api {

// UnknownValue is a value of an enum without a name here. `pointer` is the JSON Pointer (RFC 6901) of its
// place.
struct UnknownValue {
    std::string pointer;
    std::string value;
    bool operator==(const UnknownValue&) const = default;
};

}  // namespace api
