#include "base/hex.hpp"

namespace base {

namespace {

bool is_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

std::string hex(std::span<const unsigned char> bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const auto byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

bool are_hex_pairs(std::string_view text, std::string_view separators) {
    if (text.size() % 3 != 2) return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_right =
            at % 3 == 2 ? separators.find(text[at]) != std::string_view::npos : is_digit(text[at]);
        if (!is_right) return false;
    }
    return true;
}

}  // namespace base
