#include "api/time.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace api {

namespace {

constexpr std::string_view kTimeExpected = "expected an RFC 3339 time such as 2026-01-31T12:00:00Z";
constexpr std::string_view kDurationExpected = "expected a duration such as 30s, 5m or 1h30m";

[[noreturn]] void invalid(std::string_view why) {
    throw std::invalid_argument(std::string(why));
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// TimeScanner consumes text from the left and fails on anything unexpected.
class TimeScanner {
public:
    explicit TimeScanner(std::string_view text) : rest_(text) {}

    int number(std::size_t digits) {
        if (rest_.size() < digits) invalid(kTimeExpected);
        int value = 0;
        for (const char c : rest_.substr(0, digits)) {
            if (!is_digit(c)) invalid(kTimeExpected);
            value = value * 10 + (c - '0');
        }
        rest_.remove_prefix(digits);
        return value;
    }
    bool accept(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!accept(c)) invalid(kTimeExpected);
    }
    // Consumes the rest: nothing, or one character and the digits of a fraction. Returns nanoseconds.
    std::int64_t fraction() {
        if (rest_.empty()) return 0;
        take_character();
        std::int64_t nanoseconds = 0;
        std::int64_t unit = 100'000'000;
        if (rest_.empty()) invalid(kTimeExpected);
        for (; !rest_.empty(); rest_.remove_prefix(1), unit /= 10) {
            if (!is_digit(rest_.front())) invalid(kTimeExpected);
            nanoseconds += (rest_.front() - '0') * unit;
        }
        return nanoseconds;
    }

private:
    // Consumes one UTF-8 character.
    void take_character() {
        rest_.remove_prefix(1);
        while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) & 0xC0U) == 0x80U)
            rest_.remove_prefix(1);
    }

    std::string_view rest_;
};

// Removes "Z" or "+01:30" from the end of `text`.
std::chrono::minutes take_zone(std::string_view& text) {
    if (text.ends_with('Z') || text.ends_with('z')) {
        text.remove_suffix(1);
        return std::chrono::minutes(0);
    }
    constexpr std::size_t kLength = std::string_view("+01:30").size();
    if (text.size() < kLength) invalid(kTimeExpected);
    TimeScanner scanner(text.substr(text.size() - kLength));
    text.remove_suffix(kLength);
    const int sign = scanner.accept('-') ? -1 : 1;
    if (sign == 1) scanner.expect('+');
    const int hours = scanner.number(2);
    scanner.expect(':');
    return std::chrono::minutes(sign * (hours * 60 + scanner.number(2)));
}

// Parses a time. The API server checks date-times of custom resources with a loose pattern and stores them
// unchanged. It accepts t and z in lower case, any character before the fraction, and anything after another
// t. It also accepts the 31st of each month, which counts from the month's first day.
auto parse_time(std::string_view text) {
    using namespace std::chrono;
    const auto separator = text.find_first_of("Tt");
    if (separator != text.npos) text = text.substr(0, text.find_first_of("Tt", separator + 1));
    const minutes zone = take_zone(text);
    TimeScanner scanner(text);
    const year y(scanner.number(4));
    scanner.expect('-');
    const month m(static_cast<unsigned>(scanner.number(2)));
    scanner.expect('-');
    const int day = scanner.number(2);
    if (!scanner.accept('T')) scanner.expect('t');
    const int hour = scanner.number(2);
    scanner.expect(':');
    const int minute = scanner.number(2);
    scanner.expect(':');
    const int second = scanner.number(2);
    const std::int64_t fraction = scanner.fraction();
    if (!m.ok() || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) invalid(kTimeExpected);
    return sys_days(y / m / 1) + days(day - 1) + hours(hour) + minutes(minute) + seconds(second) - zone +
           floor<microseconds>(nanoseconds(fraction));
}

std::string format_seconds(Time::Seconds at) {
    using namespace std::chrono;
    const auto days_part = floor<days>(at);
    const year_month_day date(days_part);
    const hh_mm_ss time(duration_cast<seconds>(at - days_part));
    std::string text = "0000-00-00T00:00:00";
    const auto put = [&text](std::size_t begin, std::size_t digits, std::int64_t value) {
        for (auto i = begin + digits; i-- > begin; value /= 10) text[i] = static_cast<char>('0' + value % 10);
    };
    put(0, 4, static_cast<int>(date.year()));
    put(5, 2, static_cast<unsigned>(date.month()));
    put(8, 2, static_cast<unsigned>(date.day()));
    put(11, 2, time.hours().count());
    put(14, 2, time.minutes().count());
    put(17, 2, time.seconds().count());
    return text;
}

// Consumes a unit from the front of `text`; 0: none.
std::uint64_t take_unit(std::string_view& text) {
    static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
        {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
        {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
    };
    std::size_t length = 0;
    while (length < text.size() && text[length] != '.' && !is_digit(text[length])) ++length;
    const std::string_view name = text.substr(0, length);
    for (const auto& [unit, nanoseconds] : kUnits) {
        if (unit != name) continue;
        text.remove_prefix(length);
        return nanoseconds;
    }
    return 0;
}

// Absolute value of the longest duration in nanoseconds.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 63;

// Consumes one "<number><unit>" and returns nanoseconds, at most kLongest. The fraction is computed in
// floating point, as in Go's time.ParseDuration.
std::uint64_t take_term(std::string_view& text) {
    std::uint64_t whole = 0;
    std::uint64_t fraction = 0;
    double scale = 1;
    bool any = false;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), any = true) {
        const auto digit = static_cast<std::uint64_t>(text.front() - '0');
        whole = whole > kLongest / 10 ? kLongest : std::min(whole * 10 + digit, kLongest);
    }
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), any = true) {
            if (fraction > (kLongest - 1) / 10) continue;  // beyond any relevant precision
            fraction = fraction * 10 + static_cast<std::uint64_t>(text.front() - '0');
            scale *= 10;
        }
    }
    const std::uint64_t unit = any ? take_unit(text) : 0;
    if (unit == 0) invalid(kDurationExpected);
    if (whole > kLongest / unit) return kLongest;
    const double rest = static_cast<double>(fraction) * (static_cast<double>(unit) / scale);
    return std::min(whole * unit + static_cast<std::uint64_t>(rest), kLongest);
}

// Returns "<whole>.<fraction>" of `value` in units of 10^digits, without trailing zeros.
std::string decimal(std::uint64_t value, int digits) {
    std::uint64_t power = 1;
    for (int i = 0; i < digits; ++i) power *= 10;
    std::string text = std::to_string(value / power);
    std::uint64_t rest = value % power;
    if (rest == 0) return text;
    std::string fraction;
    for (; rest != 0; rest %= power) {
        power /= 10;
        fraction += static_cast<char>('0' + rest / power);
    }
    return text + "." + fraction;
}

}  // namespace

Time Time::parse(std::string_view text) {
    return Time(parse_time(text));
}

std::string Time::str() const {
    return format_seconds(at) + "Z";
}

MicroTime MicroTime::parse(std::string_view text) {
    return MicroTime(parse_time(text));
}

std::string MicroTime::str() const {
    const auto whole = std::chrono::floor<base::Seconds>(at);
    std::array<char, 16> fraction{};
    const auto microseconds = static_cast<int>((at - whole).count());
    std::snprintf(fraction.data(), fraction.size(), ".%06dZ", microseconds);
    return format_seconds(whole) + fraction.data();
}

Duration Duration::parse(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text == "0") return {};
    if (text.empty()) invalid(kDurationExpected);
    std::uint64_t total = 0;
    while (!text.empty()) total = std::min(total + take_term(text), kLongest);
    if (negative) return base::Duration(static_cast<std::int64_t>(~total + 1));
    return base::Duration(total);
}

std::string Duration::str() const {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const std::int64_t count = value.count();
    if (count == 0) return "0s";
    const std::string sign = count < 0 ? "-" : "";
    const auto total = count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
    if (total < 1'000) return sign + std::to_string(total) + "ns";
    if (total < 1'000'000) return sign + decimal(total, 3) + "\u00b5s";
    if (total < kSecond) return sign + decimal(total, 6) + "ms";
    const std::uint64_t minutes = total / (60 * kSecond);
    const std::string seconds = decimal(total % (60 * kSecond), 9) + "s";
    if (minutes == 0) return sign + seconds;
    if (minutes < 60) return sign + std::to_string(minutes) + "m" + seconds;
    return sign + std::to_string(minutes / 60) + "h" + std::to_string(minutes % 60) + "m" + seconds;
}

DurationOrNever DurationOrNever::parse(std::string_view text) {
    if (text == "Never") return {};
    return {Duration::parse(text)};
}

std::string DurationOrNever::str() const {
    return duration ? duration->str() : "Never";
}

std::string age(std::optional<Time> since, Time now) {
    if (!since) return {};
    constexpr std::int64_t kMinute = 60;
    constexpr std::int64_t kHour = 60 * kMinute;
    constexpr std::int64_t kDay = 24 * kHour;
    const auto seconds = std::max<std::int64_t>(0, (now.at - since->at).count());
    if (seconds < 2 * kMinute) return std::to_string(seconds) + " s";
    if (seconds < 2 * kHour) return std::to_string(seconds / kMinute) + " min";
    if (seconds < 2 * kDay) return std::to_string(seconds / kHour) + " h";
    return std::to_string(seconds / kDay) + " d";
}

}  // namespace api
