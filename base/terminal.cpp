#include "base/terminal.hpp"

namespace base {

namespace {

constexpr unsigned char kLeadOfLatin1Controls = 0xC2;  // C2 80 to C2 9F

bool is_control(unsigned char c) {
    return (c < 0x20 && c != '\n') || c == 0x7F;
}

}  // namespace

std::string for_terminal(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
        const bool is_pair = c == kLeadOfLatin1Controls && next >= 0x80 && next < 0xA0;
        shown += is_pair || is_control(c) ? '?' : text[i];
        if (is_pair) ++i;
    }
    return shown;
}

}  // namespace base
