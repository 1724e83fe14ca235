#include "base/mac_address.hpp"

#include <algorithm>
#include <cctype>

#include "base/hex.hpp"
#include "base/sha256.hpp"

namespace base {

namespace {

constexpr std::size_t kBytes = 6;
constexpr std::size_t kLength = 3 * kBytes - 1;

std::string upper(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

}  // namespace

std::string mac_address(std::string_view prefix, std::string_view key) {
    auto digest = sha256(key);
    digest[0] = static_cast<unsigned char>((digest[0] & ~1U) | 2U);
    const auto given = 3 * ((prefix.size() + 1) / 3);
    const auto digits = hex(std::span(digest).first(kBytes));
    std::string address(prefix.substr(0, given));
    if (given > address.size()) address += ':';
    for (std::size_t at = given / 3; at < kBytes; ++at) address += digits.substr(2 * at, 2) + ":";
    address.pop_back();
    return upper(address);
}

std::string find_mac_address(std::string_view text) {
    for (std::size_t at = 0; at + kLength <= text.size(); ++at) {
        const auto part = text.substr(at, kLength);
        const bool begins = at == 0 || std::isxdigit(static_cast<unsigned char>(text[at - 1])) == 0;
        if (begins && are_hex_pairs(part)) return upper(part);
    }
    return {};
}

}  // namespace base
