#include "test/simulators/proxmox/core/text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace proxmox_simulator {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        auto end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> items;
    constexpr std::string_view kSeparators = ",; \t\r\n";
    for (;;) {
        auto begin = text.find_first_not_of(kSeparators);
        if (begin == std::string_view::npos) return items;
        text.remove_prefix(begin);
        auto end = std::min(text.find_first_of(kSeparators), text.size());
        items.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
    std::string text;
    for (const auto& item : items) {
        if (!text.empty()) text += separator;
        text += item;
    }
    return text;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (auto& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string trim(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    auto begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

std::optional<std::int64_t> to_integer(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string percent_decode(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        int value = 0;
        if (text[i] == '%' && i + 2 < text.size()) {
            auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
            if (error == std::errc{} && end == text.data() + i + 3) {
                result += static_cast<char>(value);
                i += 2;
                continue;
            }
        }
        result += text[i];
    }
    return result;
}

std::string base64_decode(std::string_view text) {
    std::string result(text.size() / 4 * 3 + 3, '\0');
    auto size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(result.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    auto padding = std::count(text.begin(), text.end(), '=');
    result.resize(size < 0 ? 0 : static_cast<std::size_t>(std::max<std::ptrdiff_t>(size - padding, 0)));
    return result;
}

std::string sha1_hex(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
    std::string result;
    for (unsigned int i = 0; i < size; ++i) result += lower(hex(digest[i], 2));
    return result;
}

std::string hex(std::uint64_t value, int width) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string result;
    for (; value != 0 || static_cast<int>(result.size()) < width; value >>= 4) result += kDigits[value & 15];
    std::reverse(result.begin(), result.end());
    return result;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0) return std::nullopt;
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (unit.ends_with("iB")) unit.remove_suffix(2);
    constexpr std::string_view kUnits = "KMGT";
    int power = 0;
    if (!unit.empty()) {
        auto position = kUnits.find(unit);
        if (unit.size() != 1 || position == std::string_view::npos) return std::nullopt;
        power = static_cast<int>(position) + 1;
    }
    return static_cast<std::uint64_t>(std::llround(std::ldexp(number, 10 * power)));
}

std::string format_size(std::uint64_t bytes) {
    constexpr std::string_view kUnits = "KMGT";
    std::size_t power = 0;
    while (power < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        ++power;
    }
    auto text = std::to_string(bytes);
    if (power > 0) text += kUnits[power - 1];
    return text;
}

}  // namespace proxmox_simulator
