// Where a decoder is in its document. Included by api/*.cpp only.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "api/type.hpp"

namespace api {

// A linked list on the stack: costs nothing until an error is reported.
struct Path {
    static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

    const Path* parent = nullptr;
    std::string_view key = {};
    std::size_t index = kNoIndex;

    // The JSON Pointer (RFC 6901).
    std::string str() const;
    // Throws DecodeError.
    [[noreturn]] void fail(std::string_view why) const;
};

// Adds one reference token, escaped.
void append_pointer(std::string& pointer, std::string_view key);

}  // namespace api
