#include "base/text.hpp"

namespace base {

std::string counted(std::int64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string is_or_are(std::int64_t count) {
    return count == 1 ? "is" : "are";
}

std::string_view beginning(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    return text.substr(0, most);
}

std::string shortened(std::string_view text, std::size_t most) {
    constexpr std::string_view kRest = "...";
    if (text.size() <= most) return std::string(text);
    if (most <= kRest.size()) return std::string(beginning(text, most));
    const auto shown = most - kRest.size();
    const auto first = beginning(text, shown * 3 / 8);
    auto last = text.substr(text.size() - (shown - first.size()));
    while (!last.empty() && (static_cast<unsigned char>(last.front()) & 0xC0) == 0x80) last.remove_prefix(1);
    return std::string(first).append(kRest).append(last);
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (auto& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

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
