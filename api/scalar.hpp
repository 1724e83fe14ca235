// Assigning JSON scalars to described values: what to do with those that do not fit.
#pragma once
#include <string>
#include <string_view>

#include "api/type.hpp"

namespace api {

// A JSON value that does not fit; the decoder that meets it knows the place. Never holds the value.
struct Mismatch {
    std::string why;
};

// "expected a string" and the like.
std::string_view expectation(const Type& type);
// Throws Mismatch, also if the type is no scalar. Returns false for a name that an enum does not know.
bool assign_string(const Type& type, void* target, std::string_view text);
// null, a boolean or a number. Throws Mismatch.
void assign_scalar(const Type& type, void* target, const json::value& scalar);

}  // namespace api
