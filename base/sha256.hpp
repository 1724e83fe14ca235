// Returns a fingerprint that is the same everywhere and forever.
#pragma once

#include <array>
#include <string_view>

namespace base {

std::array<unsigned char, 32> sha256(std::string_view bytes);

}  // namespace base
