#include "api/bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace api {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

[[noreturn]] void not_base64() {
    throw std::invalid_argument("expected base64");
}

std::uint32_t digit(char c) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) not_base64();
    return static_cast<std::uint32_t>(value);
}

}  // namespace

Bytes Bytes::parse(std::string_view base64) {
    if (base64.size() % 4 != 0) not_base64();
    std::size_t padding = 0;
    while (padding < 2 && base64.ends_with('=')) {
        base64.remove_suffix(1);
        ++padding;
    }
    Bytes bytes;
    bytes.value.reserve(base64.size() / 4 * 3 + 2);
    std::uint32_t buffer = 0;
    int bits = 0;
    for (const char c : base64) {
        buffer = (buffer << 6 | digit(c)) & 0xffffff;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes.value += static_cast<char>(buffer >> bits & 0xff);
    }
    return bytes;
}

std::string Bytes::str() const {
    std::string text;
    text.reserve((value.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < value.size(); i += 3) {
        const std::size_t length = std::min<std::size_t>(3, value.size() - i);
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = group << 8 | (j < length ? static_cast<unsigned char>(value[i + j]) : 0u);
        for (std::size_t j = 0; j < 4; ++j) text += j <= length ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
    }
    return text;
}

}  // namespace api
