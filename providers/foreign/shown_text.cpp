#include "providers/foreign/shown_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace providers::foreign {

namespace {

constexpr std::size_t kMostCharacters = 256;
constexpr std::size_t kBeginning = 96;  // characters kept before the "..." that replaces the middle
constexpr std::string_view kRest = "...";
// Limit in bytes of what is read from an output's end. Megabytes would block the event loop.
constexpr std::size_t kLongestEnd = 64 * 1024;
constexpr std::string_view kBlanks = " \t\r\n";

struct Character {
    std::string_view bytes;
    std::uint32_t code;
};

struct CodePoints {
    std::uint32_t first;
    std::uint32_t last;
};

// Hidden characters: controls; soft hyphen; Arabic letter mark; zero-width and directional marks, separators
// of lines, embeddings and isolates; byte order mark; annotations; tags; noncharacters.
constexpr std::array<CodePoints, 13> kHidden = {{{0x00, 0x1F},
                                                 {0x7F, 0x9F},
                                                 {0xAD, 0xAD},
                                                 {0x34F, 0x34F},
                                                 {0x61C, 0x61C},
                                                 {0x180B, 0x180F},
                                                 {0x200B, 0x200F},
                                                 {0x2028, 0x202E},
                                                 {0x2060, 0x206F},
                                                 {0xFE00, 0xFE0F},
                                                 {0xFEFF, 0xFEFF},
                                                 {0xFFF0, 0xFFFF},
                                                 {0xE0000, 0xE0FFF}}};

bool is_hidden(std::uint32_t code) {
    for (const auto& range : kHidden) {
        if (code >= range.first && code <= range.last) return true;
    }
    return false;
}

std::size_t length_by_first_byte(unsigned char byte) {
    if (byte < 0x80) return 1;
    if (byte >= 0xC2 && byte < 0xE0) return 2;
    if (byte >= 0xE0 && byte < 0xF0) return 3;
    return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

// Returns the first character of `text`; its bytes are empty if the text does not begin with a character.
Character first_character(std::string_view text) {
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    constexpr std::array<unsigned, 5> kFirstBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const auto first = static_cast<unsigned char>(text.front());
    const auto length = length_by_first_byte(first);
    if (length == 0 || length > text.size()) return {{}, 0};
    std::uint32_t code = first & kFirstBits[length];
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0) != 0x80) return {{}, 0};
        code = code << 6 | (byte & 0x3Fu);
    }
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < kLeast[length] || code > 0x10FFFF || is_surrogate) return {{}, 0};
    return {text.substr(0, length), code};
}

// Calls `each` with the bytes of each visible character, until it returns false.
template <class Function>
void for_each_shown(std::string_view text, Function each) {
    while (!text.empty()) {
        const auto character = first_character(text);
        text.remove_prefix(std::max<std::size_t>(character.bytes.size(), 1));
        const bool is_blank = kBlanks.find(static_cast<char>(character.code)) != std::string_view::npos &&
                              character.bytes.size() == 1;
        if (character.bytes.empty() || (is_hidden(character.code) && !is_blank)) continue;
        if (!each(is_blank ? " " : character.bytes)) return;
    }
}

}  // namespace

namespace {

// Returns the first visible characters, each as its bytes.
std::vector<std::string_view> first_shown(std::string_view text, std::size_t most) {
    std::vector<std::string_view> first;
    for_each_shown(text, [&](std::string_view character) {
        first.push_back(character);
        return first.size() < most;
    });
    return first;
}

std::string concatenated(const std::vector<std::string_view>& characters, std::size_t most) {
    std::string result;
    for (std::size_t i = 0; i < std::min(most, characters.size()); ++i) result += characters[i];
    return result;
}

}  // namespace

std::string shown(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    text = text.substr(0, text.find_first_of("\r\n"));
    const auto first = first_shown(text, kMostCharacters + 1);
    auto result = concatenated(first, first.size());
    if (first.size() > kMostCharacters)
        result = concatenated(first, kBeginning) + shown_end(text, kMostCharacters - kBeginning);
    result.resize(result.find_last_not_of(kBlanks) + 1);
    return result;
}

std::string shown_end(std::string_view text, std::size_t most) {
    std::deque<std::string_view> last;
    bool is_cut = text.size() > kLongestEnd;
    if (is_cut) text.remove_prefix(text.size() - kLongestEnd);
    for_each_shown(text, [&](std::string_view character) {
        const bool is_blank = character == " ";
        if (is_blank && (last.empty() || last.back() == " ")) return true;
        last.push_back(character);
        if (last.size() <= most) return true;
        last.pop_front();
        is_cut = true;
        return true;
    });
    std::string result(is_cut ? kRest : "");
    for (const auto character : last) result += character;
    result.resize(result.find_last_not_of(kBlanks) + 1);
    return result;
}

}  // namespace providers::foreign
