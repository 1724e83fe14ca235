// Points in time and durations as Kubernetes writes them.
#pragma once
#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace api {

// metav1.Time: RFC 3339 with whole seconds, written in UTC. Fractions are accepted and dropped.
struct Time {
    std::chrono::sys_seconds at{};

    Time() = default;
    explicit Time(std::chrono::system_clock::time_point t)
        : at(std::chrono::floor<std::chrono::seconds>(t)) {}

    // Throws std::invalid_argument.
    static Time parse(std::string_view text);
    std::string str() const;
    auto operator<=>(const Time&) const = default;
};

// metav1.MicroTime: RFC 3339 with exactly six fractional digits when written (Lease, Event.eventTime).
struct MicroTime {
    std::chrono::sys_time<std::chrono::microseconds> at{};

    MicroTime() = default;
    explicit MicroTime(std::chrono::system_clock::time_point t)
        : at(std::chrono::floor<std::chrono::microseconds>(t)) {}

    // Throws std::invalid_argument.
    static MicroTime parse(std::string_view text);
    std::string str() const;
    auto operator<=>(const MicroTime&) const = default;
};

// metav1.Duration: a Go duration string ("1h30m", "300ms", "-1.5h"), exact to the nanosecond.
// Written as Go's Duration.String() writes it ("5m" comes back as "5m0s").
struct Duration {
    std::chrono::nanoseconds value{};

    constexpr Duration() = default;
    // Implicit, so that `Duration window = std::chrono::minutes(5);` reads as it should.
    template <class Rep, class Period>
    constexpr Duration(std::chrono::duration<Rep, Period> d) : value(d) {}

    // Throws std::invalid_argument.
    static Duration parse(std::string_view text);
    std::string str() const;
    auto operator<=>(const Duration&) const = default;
};

// "Never" or a duration.
struct DurationOrNever {
    std::optional<Duration> duration;  // empty = never

    static DurationOrNever parse(std::string_view text);
    std::string str() const;
    bool operator==(const DurationOrNever&) const = default;
};

}  // namespace api
