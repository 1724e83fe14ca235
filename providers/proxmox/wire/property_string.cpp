#include "providers/proxmox/wire/property_string.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/grammar.hpp"

namespace providers::proxmox {

namespace {

constexpr std::size_t kLongestFileName = 255;
constexpr std::string_view kBlanks = " \t\r\n\v\f";

bool is_hexadecimal(std::string_view text, std::size_t least, std::size_t most) {
    return text.size() >= least && text.size() <= most &&
           text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Calls take(part) for each part that is not empty.
template <class Take>
void split(std::string_view text, std::string_view separators, Take take) {
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(separators), text.size());
        if (const auto part = trim(text.substr(0, end)); !part.empty()) take(part);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

PropertyString PropertyString::parse(std::string_view text) {
    PropertyString result;
    split(text, ",", [&](std::string_view part) {
        const auto equals = part.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            result.parts_.emplace_back("", part);
        } else {
            result.parts_.emplace_back(part.substr(0, equals), part.substr(equals + 1));
        }
    });
    return result;
}

std::string PropertyString::str() const {
    std::string text;
    for (const auto& [key, value] : parts_) {
        if (!text.empty()) text += ',';
        text += key.empty() ? value : key + "=" + value;
    }
    return text;
}

std::optional<std::string> PropertyString::find(std::string_view key) const {
    for (const auto& [name, value] : parts_) {
        if (name == key) return value;
    }
    return std::nullopt;
}

std::optional<std::string> PropertyString::find_or_default(std::string_view key) const {
    auto value = find(key);
    return value ? value : find("");
}

void PropertyString::set(std::string_view key, std::string value) {
    if (value.find(',') != std::string::npos) {
        throw std::invalid_argument("the value of " + std::string(key) + " must not contain a comma");
    }
    const auto same =
        std::ranges::find(parts_, key, [](const auto& part) { return std::string_view(part.first); });
    if (same != parts_.end()) {
        same->second = std::move(value);
    } else {
        parts_.emplace_back(key, std::move(value));
    }
}

Tags parse_tags(std::string_view text) {
    Tags tags;
    split(text, ";, ", [&](std::string_view part) { tags.insert(base::lower_case(part)); });
    return tags;
}

std::string join_tags(const Tags& tags) {
    std::string text;
    for (const auto& tag : tags) text += (text.empty() ? "" : ";") + tag;
    return text;
}

std::optional<Upid> parse_upid(std::string_view text) {
    std::vector<std::string> parts;
    for (std::string_view rest = text; parts.size() < 9;) {
        const auto end = rest.find(':');
        parts.emplace_back(rest.substr(0, end));
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    if (parts.size() != 9 || parts[0] != "UPID" || !is_host_name(parts[1]) || parts[5].empty() ||
        parts[7].empty() || !parts[8].empty()) {
        return std::nullopt;
    }
    const bool has_numbers =
        is_hexadecimal(parts[2], 8, 8) && is_hexadecimal(parts[3], 8, 9) && is_hexadecimal(parts[4], 8, 8);
    if (!has_numbers || text.find_first_of(kBlanks) != std::string_view::npos) return std::nullopt;
    // A UPID is also the name of its log file.
    if (text.size() > kLongestFileName || foreign::shown(text) != text) return std::nullopt;
    Upid upid;
    const auto& start = parts[4];
    std::from_chars(start.data(), start.data() + start.size(), upid.start_time, 16);
    upid.text = text;
    upid.node = parts[1];
    upid.type = parts[5];
    upid.id = parts[6];
    upid.user = parts[7];
    return upid;
}

}  // namespace providers::proxmox
