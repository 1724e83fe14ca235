#include "base/uuid.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace base {

std::optional<UuidBytes> parse_uuid(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    UuidBytes bytes{};
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (at == 8 || at == 13 || at == 18 || at == 23) {
            if (text[at++] != '-') return std::nullopt;
            continue;
        }
        const char* begin = text.data() + at;
        auto [end, error] = std::from_chars(begin, begin + 2, bytes[count], 16);
        if (error != std::errc{} || end != begin + 2) return std::nullopt;
        ++count;
        at += 2;
    }
    return bytes;
}

std::string write_uuid(const UuidBytes& bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += kDigits[bytes[i] >> 4];
        text += kDigits[bytes[i] & 15];
    }
    return text;
}

std::string byte_swapped(std::string_view uuid) {
    auto bytes = parse_uuid(uuid);
    if (!bytes) return lower_case(uuid);
    std::reverse(bytes->begin(), bytes->begin() + 4);
    std::reverse(bytes->begin() + 4, bytes->begin() + 6);
    std::reverse(bytes->begin() + 6, bytes->begin() + 8);
    return write_uuid(*bytes);
}

bool same_uuid(std::string_view a, std::string_view b) {
    const auto left = lower_case(a);
    const auto right = lower_case(b);
    return !left.empty() && (left == right || byte_swapped(left) == right);
}

bool identifies(std::string_view uuid) {
    const auto bytes = parse_uuid(uuid);
    if (!bytes) return false;
    const auto all = [&](unsigned char value) {
        return std::ranges::all_of(*bytes, [value](unsigned char b) { return b == value; });
    };
    return !all(0x00) && !all(0xff);
}

}  // namespace base
