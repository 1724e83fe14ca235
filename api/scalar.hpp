// Assigns JSON scalars to described values, and reports those that do not match.
#pragma once
#include <string>
#include <string_view>

#include "api/type.hpp"

namespace api {

// Mismatch means that a JSON value does not match. The decoder knows its place. It never contains the value.
struct Mismatch {
    std::string why;
};

// Returns "expected a string" and the like.
std::string_view expectation(const Type& type);
// Throws Mismatch, also if the type is no scalar. Returns false for an unknown name of an enum.
bool assign_string(const Type& type, void* target, std::string_view text);
// Accepts null, booleans and numbers. Throws Mismatch.
void assign_scalar(const Type& type, void* target, const json::value& scalar);

}  // namespace api
