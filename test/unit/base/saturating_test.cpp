#include "base/saturating.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "base/time.hpp"
#include "test/support/catch.hpp"

using base::Saturating;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kMax = Saturating::kMax;
constexpr std::int64_t kMin = Saturating::kMin;

std::int64_t nearest(__int128 exact) {
    if (exact > kMax) return kMax;
    if (exact < kMin) return kMin;
    return static_cast<std::int64_t>(exact);
}

// Returns a small number, a number near an end of the range, or any number.
std::int64_t any_number(std::mt19937_64& generator) {
    const auto near = static_cast<std::int64_t>(generator() % 7);
    switch (generator() % 4) {
        case 0:
            return near - 3;
        case 1:
            return kMax - near;
        case 2:
            return kMin + near;
        default:
            return static_cast<std::int64_t>(generator()) >> (generator() % 64);
    }
}

}  // namespace

TEST_CASE("arithmetic gives the nearest number to the exact result") {
    std::mt19937_64 generator(1);
    for (int i = 0; i < 100'000; ++i) {
        const auto a = any_number(generator);
        const auto b = any_number(generator);
        INFO(a << " and " << b);
        const Saturating left(a);
        REQUIRE(left + b == nearest(__int128{a} + b));
        REQUIRE(left - b == nearest(__int128{a} - b));
        REQUIRE(left * b == nearest(__int128{a} * b));
        REQUIRE(a + Saturating(b) == left + Saturating(b));
        REQUIRE(a - Saturating(b) == left - Saturating(b));
        REQUIRE(-left == nearest(-__int128{a}));
        if (b == 0) continue;
        REQUIRE(left / b == nearest(__int128{a} / b));
        REQUIRE(left % b == nearest(__int128{a} % b));
    }
}

TEST_CASE("counting ends at the last number") {
    Saturating last = kMax;
    CHECK(++last == kMax);
    CHECK(last++ == kMax);
    Saturating first = kMin;
    CHECK(--first == kMin);
    CHECK(first-- == kMin);
    std::int32_t narrow = std::numeric_limits<std::int32_t>::max();
    base::count_up(narrow);
    CHECK(narrow == std::numeric_limits<std::int32_t>::max());
    narrow = 4;
    base::count_up(narrow);
    CHECK(narrow == 5);
}

TEST_CASE("numbers of other types become the nearest one") {
    CHECK(Saturating(std::numeric_limits<std::uint64_t>::max()) == kMax);
    CHECK(Saturating(1e300) == kMax);
    CHECK(Saturating(-1e300) == kMin);
    CHECK(Saturating(std::numeric_limits<double>::infinity()) == kMax);
    CHECK(Saturating(std::nan("")) == 0);
    CHECK(Saturating(-2.9) == -2);
    CHECK(Saturating(9223372036854774784.0) == 9223372036854774784);
}

TEST_CASE("sums of moments and durations end at the last moment") {
    const base::TimePoint now(36h);
    CHECK(now + std::chrono::seconds(9'999'999'999) == base::TimePoint::max());
    CHECK(now + std::chrono::seconds(9'999'999'999) + 1min > now);
    CHECK(base::TimePoint(-36h) - std::chrono::hours::max() == base::TimePoint::min());
    CHECK(base::Duration::max() + 1ns == base::Duration::max());
    CHECK(base::Duration(100'000h) * 1000 == base::Duration::max());
    CHECK(base::Duration(-100'000h) * 1000 == base::Duration::min());
    CHECK(base::Duration(std::chrono::seconds::max()) == base::Duration::max());
    CHECK(std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(1e30)) ==
          base::Duration::max());
    CHECK(now + 1s - now == 1s);
}
