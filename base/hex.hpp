// Bytes as hexadecimal digits.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace base {

// In lower case.
std::string hex(std::span<const unsigned char> bytes);

// Whether `text` is pairs of digits, in either case, with one of `separators` between them: "BC:24:11".
bool are_hex_pairs(std::string_view text, std::string_view separators = ":");

}  // namespace base
