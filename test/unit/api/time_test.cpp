#include "api/time.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

using namespace std::chrono_literals;
using api::Duration;
using api::DurationOrNever;
using api::MicroTime;
using api::Time;

TEST_CASE("times are read from RFC 3339 and written in UTC with whole seconds") {
    struct Row {
        std::string text;
        std::string written;
    };
    const std::vector<Row> rows = {
        {"2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"},
        {"2026-01-31T12:00:00.999999999Z", "2026-01-31T12:00:00Z"},
        {"2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"},
        {"2026-01-31T23:30:00-01:45", "2026-02-01T01:15:00Z"},
        {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
        {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
        {"1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"},
        {"1969-12-31T23:59:58.5Z", "1969-12-31T23:59:58Z"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(Time::parse(row.text).str() == row.written);
    }
    CHECK(Time::parse("2026-01-31T12:00:00Z").at.time_since_epoch() == 1769860800s);
}

TEST_CASE("text that is no RFC 3339 time is refused") {
    for (const std::string text : {"",
                                   "2026-01-31",
                                   "2026-01-31 12:00:00Z",
                                   "2026-01-31T12:00:00",
                                   "2026-13-01T00:00:00Z",
                                   "2026-00-01T00:00:00Z",
                                   "2026-01-00T00:00:00Z",
                                   "2026-01-32T00:00:00Z",
                                   "2026-01-31T24:00:00Z",
                                   "2026-01-31T12:60:00Z",
                                   "2026-01-31T12:00:61Z",
                                   "2026-01-31T12:00:00.Z",
                                   "2026-01-31T12:00:00Zx",
                                   "2026-01-31T12:00:00+0200",
                                   "2026-1-31T12:00:00Z",
                                   "12026-01-31T12:00:00Z",
                                   "2026-01-31T12:00:00..5Z",
                                   "2026-01-31TtZ",
                                   "Z",
                                   "t",
                                   "T"}) {
        INFO(text);
        CHECK_THROWS_AS(Time::parse(text), std::invalid_argument);
    }
}

TEST_CASE("every time that the API server stores in custom resources is read") {
    struct Row {
        std::string text;
        std::string written;
    };
    const std::vector<Row> rows = {
        {"2026-01-31t12:00:00z", "2026-01-31T12:00:00Z"},
        {"2026-02-31T00:00:00Z", "2026-03-03T00:00:00Z"},
        {"2025-02-29T00:00:00Z", "2025-03-01T00:00:00Z"},
        {"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
        {"0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00Z"},
        {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
        {"9999-01-01T00:00:00Z", "9999-01-01T00:00:00Z"},
        {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59Z"},
        {"9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59Z"},
        {"2026-01-31T12:00:00+99:99", "2026-01-27T07:21:00Z"},
        {"2026-01-31T12:00:00,25Z", "2026-01-31T12:00:00Z"},
        {"2026-01-31T12:00:00\u20ac25z", "2026-01-31T12:00:00Z"},
        {"2026-01-31T12:00:00ZT and more", "2026-01-31T12:00:00Z"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(Time::parse(row.text).str() == row.written);
    }
}

TEST_CASE("a time is never one that Kubernetes could not write") {
    using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;
    using Point = std::chrono::time_point<std::chrono::system_clock, Days>;
    CHECK(Time(Point(Days(10'000'000))).str() == "9999-12-31T23:59:59Z");
    CHECK(Time(Point(Days(-10'000'000))).str() == "0000-01-01T00:00:00Z");
    const auto now = Time::parse("2026-01-31T12:00:00Z");
    CHECK(Time(now.at + std::chrono::seconds::max()).str() == "9999-12-31T23:59:59Z");
    CHECK(Time(now.at - std::chrono::seconds::max()).str() == "0000-01-01T00:00:00Z");
    CHECK(Time(base::WallTime::max()).str() == "2262-04-11T23:47:16Z");
    CHECK(MicroTime(Point(Days(10'000'000))).str() == "9999-12-31T23:59:59.000000Z");
}

TEST_CASE("micro times are written with six fractional digits") {
    CHECK(MicroTime::parse("2026-01-31T12:00:00.000000Z").str() == "2026-01-31T12:00:00.000000Z");
    CHECK(MicroTime::parse("2026-01-31T12:00:00.123456789Z").str() == "2026-01-31T12:00:00.123456Z");
    CHECK(MicroTime::parse("2026-01-31T12:00:00.5+01:00").str() == "2026-01-31T11:00:00.500000Z");
    CHECK(MicroTime::parse("2026-01-31T12:00:00Z").str() == "2026-01-31T12:00:00.000000Z");
}

TEST_CASE("durations are read and written as Go does") {
    struct Row {
        std::string text;
        std::chrono::nanoseconds value;
        std::string written;
    };
    const std::vector<Row> rows = {
        {"0", 0ns, "0s"},
        {"0s", 0ns, "0s"},
        {"-0s", 0ns, "0s"},
        {"5m", 5min, "5m0s"},
        {"1h", 1h, "1h0m0s"},
        {"90m", 90min, "1h30m0s"},
        {"1h30m", 90min, "1h30m0s"},
        {"24h", 24h, "24h0m0s"},
        {"30s", 30s, "30s"},
        {"1.5s", 1500ms, "1.5s"},
        {"300ms", 300ms, "300ms"},
        {"1.000000001s", 1s + 1ns, "1.000000001s"},
        {"2us", 2us, "2\u00b5s"},
        {"2\u00b5s", 2us, "2\u00b5s"},
        {"2\u03bcs", 2us, "2\u00b5s"},
        {"15ns", 15ns, "15ns"},
        {"1.5h", 90min, "1h30m0s"},
        {".5s", 500ms, "500ms"},
        {"1.s", 1s, "1s"},
        {"-1.5h", -90min, "-1h30m0s"},
        {"+5s", 5s, "5s"},
        {"1m1m", 2min, "2m0s"},
        {"39h9m14.425s", 39h + 9min + 14425ms, "39h9m14.425s"},
        {"0.3333333333333333333h", 20min, "20m0s"},
        {"9223372036854775808ns", std::chrono::nanoseconds::max(), "2562047h47m16.854775807s"},
        {"-9223372036854775809ns", std::chrono::nanoseconds::min(), "-2562047h47m16.854775808s"},
        {"9999999h", std::chrono::nanoseconds::max(), "2562047h47m16.854775807s"},
        {"2562047h2562047h", std::chrono::nanoseconds::max(), "2562047h47m16.854775807s"},
        {"99999999999999999999999999999.5s", std::chrono::nanoseconds::max(), "2562047h47m16.854775807s"},
        {"-99999999999999999999h", std::chrono::nanoseconds::min(), "-2562047h47m16.854775808s"},
        {"9223372036854775807ns", std::chrono::nanoseconds::max(), "2562047h47m16.854775807s"},
        {"-9223372036854775808ns", std::chrono::nanoseconds::min(), "-2562047h47m16.854775808s"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const Duration duration = Duration::parse(row.text);
        CHECK(duration.value == row.value);
        CHECK(duration.str() == row.written);
        CHECK(Duration::parse(duration.str()) == duration);
    }
}

TEST_CASE("text that is no Go duration is refused") {
    for (const std::string text : {"", "5", "-", "+", "m", ".", ".s", "5 m", "5min", "1d", "5m3", "1h-5m",
                                   "s5", "1..5s", "5M", "never"}) {
        INFO(text);
        CHECK_THROWS_AS(Duration::parse(text), std::invalid_argument);
    }
}

TEST_CASE("an expiry is Never or a duration") {
    CHECK(DurationOrNever::parse("Never").duration == std::nullopt);
    CHECK(DurationOrNever::parse("Never").str() == "Never");
    CHECK(DurationOrNever::parse("720h").duration == Duration(720h));
    CHECK_THROWS_AS(DurationOrNever::parse("never"), std::invalid_argument);
}
