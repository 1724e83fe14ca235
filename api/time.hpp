// Times and durations in Kubernetes' notation.
#pragma once
#include <algorithm>
#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace api {

// Limits a time to the years 0000 to 9999, as Kubernetes only writes these.
template <class Duration>
constexpr auto within_written_years(std::chrono::time_point<std::chrono::system_clock, Duration> t) {
    using namespace std::chrono;
    using Point = time_point<system_clock, Duration>;
    constexpr sys_days kFirst = year(0) / January / 1;
    constexpr sys_seconds kLast = sys_days(year(10000) / January / 1) - seconds(1);
    return std::clamp<Point>(t, kFirst, kLast);
}

// Time is metav1.Time: RFC 3339 with whole seconds, written in UTC. Fractions are accepted and dropped.
struct Time {
    using Seconds = std::chrono::time_point<std::chrono::system_clock, base::Seconds>;
    Seconds at{};

    Time() = default;
    // Accepts every time point and limits it to what Kubernetes can write.
    template <class Duration>
    explicit Time(std::chrono::time_point<std::chrono::system_clock, Duration> t)
        : at(within_written_years<base::Seconds>(std::chrono::floor<base::Seconds>(t))) {}

    // Throws std::invalid_argument.
    static Time parse(std::string_view text);
    std::string str() const;
    auto operator<=>(const Time&) const = default;
};

// MicroTime is metav1.MicroTime: RFC 3339, written with exactly six fractional digits (Lease,
// Event.eventTime).
struct MicroTime {
    using Microseconds = std::chrono::duration<base::Saturating, std::micro>;
    std::chrono::time_point<std::chrono::system_clock, Microseconds> at{};

    MicroTime() = default;
    template <class Duration>
    explicit MicroTime(std::chrono::time_point<std::chrono::system_clock, Duration> t)
        : at(within_written_years<Microseconds>(std::chrono::floor<Microseconds>(t))) {}

    // Throws std::invalid_argument.
    static MicroTime parse(std::string_view text);
    std::string str() const;
    auto operator<=>(const MicroTime&) const = default;
};

// Duration is metav1.Duration: a Go duration string ("1h30m", "300ms", "-1.5h"), exact to the nanosecond. It
// is written like Go's Duration.String() ("5m" becomes "5m0s"). Longer ones, in either direction, saturate
// (292 years).
struct Duration {
    base::Duration value{};

    constexpr Duration() = default;
    // Implicit, to allow `Duration window = std::chrono::minutes(5);`.
    template <class Rep, class Period>
    constexpr Duration(std::chrono::duration<Rep, Period> d) : value(d) {}

    // Throws std::invalid_argument.
    static Duration parse(std::string_view text);
    std::string str() const;
    auto operator<=>(const Duration&) const = default;
};

// DurationOrNever is "Never" or a duration.
struct DurationOrNever {
    std::optional<Duration> duration;  // empty: never

    static DurationOrNever parse(std::string_view text);
    std::string str() const;
    bool operator==(const DurationOrNever&) const = default;
};

// Returns, for example, "5 min", "3 h" or "2 d"; empty if `since` is unknown.
std::string age(std::optional<Time> since, Time now);

}  // namespace api
