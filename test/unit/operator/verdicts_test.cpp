#include "operator/access_review.hpp"

#include "test/support/catch.hpp"

namespace {

using kubenodesmith::AccessVerdict;
using kubenodesmith::Verdicts;
using namespace std::chrono_literals;

const base::TimePoint kNow{1000s};

Verdicts::Key key(int token, std::string_view path = "/metrics") {
    return Verdicts::key_of(std::to_string(token), "get", path);
}

}  // namespace

TEST_CASE("a verdict holds for a while, a refusal shorter") {
    Verdicts verdicts;
    verdicts.remember(key(1), AccessVerdict::kAllowed, kNow);
    verdicts.remember(key(2), AccessVerdict::kForbidden, kNow);
    verdicts.remember(key(3), AccessVerdict::kUnknownToken, kNow);
    CHECK(verdicts.find(key(1), kNow + 59s) == AccessVerdict::kAllowed);
    CHECK(verdicts.find(key(2), kNow + 9s) == AccessVerdict::kForbidden);
    CHECK(verdicts.find(key(3), kNow + 9s) == AccessVerdict::kUnknownToken);
    CHECK_FALSE(verdicts.find(key(1), kNow + 60s));
    CHECK_FALSE(verdicts.find(key(2), kNow + 10s));
    CHECK(verdicts.was_allowed(key(1)));
    CHECK_FALSE(verdicts.was_allowed(key(2)));
}

TEST_CASE("a verdict is for one token, one verb and one path") {
    Verdicts verdicts;
    verdicts.remember(key(1), AccessVerdict::kAllowed, kNow);
    CHECK_FALSE(verdicts.find(key(2), kNow));
    CHECK_FALSE(verdicts.find(key(1, "/debug/state"), kNow));
    CHECK_FALSE(verdicts.find(Verdicts::key_of("1", "head", "/metrics"), kNow));
    CHECK_FALSE(verdicts.find(Verdicts::key_of("1g", "et", "/metrics"), kNow));
}

TEST_CASE("the last verdict counts") {
    Verdicts verdicts;
    verdicts.remember(key(1), AccessVerdict::kAllowed, kNow);
    verdicts.remember(key(1), AccessVerdict::kForbidden, kNow + 1s);
    CHECK(verdicts.find(key(1), kNow + 1s) == AccessVerdict::kForbidden);
    CHECK_FALSE(verdicts.was_allowed(key(1)));
    verdicts.remember(key(1), AccessVerdict::kAllowed, kNow + 2s);
    CHECK(verdicts.find(key(1), kNow + 2s) == AccessVerdict::kAllowed);
}

TEST_CASE("wrong tokens push out each other, and no good one") {
    Verdicts verdicts;
    verdicts.remember(key(-1), AccessVerdict::kAllowed, kNow);
    const int most = static_cast<int>(Verdicts::kMostRefused);
    for (int token = 0; token <= most; ++token)
        verdicts.remember(key(token), AccessVerdict::kUnknownToken, kNow);
    CHECK(verdicts.find(key(-1), kNow) == AccessVerdict::kAllowed);
    CHECK_FALSE(verdicts.find(key(0), kNow));
    CHECK(verdicts.find(key(1), kNow) == AccessVerdict::kUnknownToken);
    CHECK(verdicts.find(key(most), kNow) == AccessVerdict::kUnknownToken);
}
