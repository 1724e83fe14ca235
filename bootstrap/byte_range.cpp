#include "bootstrap/byte_range.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace bootstrap {

namespace {

constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;
constexpr std::string_view kUnit = "bytes=";

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return value;
}

struct Part {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // itself included; less than `first`: nothing
};

// nullopt: not understood.
std::optional<Part> parse(std::string_view range, std::uint64_t size) {
    if (!range.starts_with(kUnit)) return std::nullopt;
    range.remove_prefix(kUnit.size());
    const auto dash = range.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto from = range.substr(0, dash);
    const auto to = range.substr(dash + 1);
    if (from.empty()) {
        const auto length = number(to);
        if (!length) return std::nullopt;
        return *length == 0 ? Part{1, 0} : Part{size - std::min(*length, size), size - 1};
    }
    const auto first = number(from);
    const auto last = to.empty() ? std::optional(size - 1) : number(to);
    if (!first || !last || (!to.empty() && *last < *first)) return std::nullopt;
    return *first < size ? Part{*first, std::min(*last, size - 1)} : Part{1, 0};
}

}  // namespace

base::HttpResponse part_of(base::HttpResponse complete, std::string_view range) {
    complete.headers.set("Accept-Ranges", "bytes");
    const std::uint64_t size = complete.body.size();
    const auto part = size == 0 ? std::nullopt : parse(range, size);
    if (!part) return complete;
    const bool is_nothing = part->last < part->first;
    const auto span = is_nothing ? "*" : std::to_string(part->first) + "-" + std::to_string(part->last);
    complete.headers.set("Content-Range", "bytes " + span + "/" + std::to_string(size));
    complete.status = is_nothing ? kRangeNotSatisfiable : kPartialContent;
    complete.body =
        is_nothing ? std::string() : complete.body.substr(part->first, part->last - part->first + 1);
    return complete;
}

}  // namespace bootstrap
