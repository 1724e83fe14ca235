// Bytes as lower case hexadecimal digits.
#pragma once

#include <span>
#include <string>

namespace base {

std::string hex(std::span<const unsigned char> bytes);

}  // namespace base
