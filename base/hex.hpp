// Bytes as hexadecimal digits.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace base {

// Returns lower-case digits.
std::string hex(std::span<const unsigned char> bytes);

// Reports whether `text` is pairs of digits, in either case, separated by one of `separators`: "BC:24:11".
bool are_hex_pairs(std::string_view text, std::string_view separators = ":");

}  // namespace base
