#include "providers/proxmox/wire/grammar.hpp"

#include <algorithm>

#include "base/hex.hpp"

namespace providers::proxmox {

namespace {

constexpr std::size_t kLongestHostName = 63;
constexpr std::size_t kLongestStorageId = 255;
constexpr std::size_t kLongestVersion = 64;
constexpr std::size_t kFingerprintLength = 95;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_letter_or_digit(char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
}

// Reports whether the text has only letters, digits and `others`, with `others` at neither end.
bool is_made_of(std::string_view text, std::string_view others) {
    if (text.empty() || !is_letter_or_digit(text.front()) || !is_letter_or_digit(text.back())) return false;
    return std::ranges::all_of(
        text, [&](char c) { return is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
}

}  // namespace

bool is_host_name(std::string_view text) {
    return text.size() <= kLongestHostName && is_made_of(text, "-");
}

bool is_version(std::string_view text) {
    return text.size() <= kLongestVersion && is_made_of(text, ".~+-:");
}

bool is_storage_id(std::string_view text) {
    return text.size() >= 2 && text.size() <= kLongestStorageId && is_letter(text.front()) &&
           is_made_of(text, "-_.");
}

bool is_fingerprint(std::string_view text) {
    return text.size() == kFingerprintLength && base::are_hex_pairs(text);
}

}  // namespace providers::proxmox
