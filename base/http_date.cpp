#include "base/http_date.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace base {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

std::optional<int> number_in(std::string_view text, std::size_t begin, std::size_t length) {
    int number = 0;
    const auto* first = text.data() + begin;
    const auto result = std::from_chars(first, first + length, number);
    if (result.ec != std::errc() || result.ptr != first + length || number < 0) return std::nullopt;
    return number;
}

std::optional<unsigned> month_in(std::string_view text) {
    for (unsigned month = 0; month < kMonths.size(); ++month)
        if (text.substr(8, 3) == kMonths[month]) return month + 1;
    return std::nullopt;
}

}  // namespace

// Parses "Sun, 06 Nov 1994 08:49:37 GMT". The two older forms are no longer in use.
std::optional<WallTime> parse_http_date(std::string_view text) {
    constexpr std::size_t kLength = 29;
    if (text.size() != kLength || text.substr(3, 2) != ", " || !text.ends_with(" GMT")) return std::nullopt;
    if (text[19] != ':' || text[22] != ':') return std::nullopt;
    const auto day = number_in(text, 5, 2), year = number_in(text, 12, 4);
    const auto month = month_in(text);
    const auto hour = number_in(text, 17, 2), minute = number_in(text, 20, 2),
               second = number_in(text, 23, 2);
    if (!day || !month || !year || !hour || !minute || !second) return std::nullopt;
    const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(*month),
                                           std::chrono::day(static_cast<unsigned>(*day)));
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
           std::chrono::seconds(*second);
}

std::string format_http_date(WallTime time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch());
    const auto since_epoch = static_cast<std::time_t>(seconds.count());
    std::tm parts{};
    gmtime_r(&since_epoch, &parts);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                  kDays.at(static_cast<std::size_t>(parts.tm_wday)).data(), parts.tm_mday,
                  kMonths.at(static_cast<std::size_t>(parts.tm_mon)).data(), parts.tm_year + 1900,
                  parts.tm_hour, parts.tm_min, parts.tm_sec);
    return text.data();
}

}  // namespace base
