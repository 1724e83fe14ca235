// Tests budgets and their schedules.
#include "controllers/disruption/rules/budgets.hpp"
#include "controllers/disruption/rules/cron.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace controllers::disruption;
using namespace std::chrono_literals;

namespace {

const api::IntOrString kNone{std::int64_t{0}};

api::Time time(const char* text) {
    return api::Time::parse(text);
}

// Returns "" if there was no start within a year.
std::string last_start(const char* schedule, const char* now) {
    const auto start = CronSchedule::parse(schedule).last_start(time(now).at, 24h * 366);
    return start ? api::Time(*start).str() : "";
}

bool allows(const api::v1alpha1::Disruption& disruption, BudgetUse use, Kind kind = Kind::Drifted,
            const char* now = "2026-11-21T12:00:00Z") {
    const auto room = budget_room(disruption, kind, use, time(now));
    const bool is_allowed = !budget_blocker(disruption, kind, use, time(now));
    CHECK((!room || *room > 0) == is_allowed);
    return is_allowed;
}

}  // namespace

TEST_CASE("a schedule's last start is found in UTC") {
    // 2026-11-21 is a Saturday.
    CHECK(last_start("0 9 * * *", "2026-11-21T12:00:00Z") == "2026-11-21T09:00:00Z");
    CHECK(last_start("0 9 * * *", "2026-11-21T08:59:59Z") == "2026-11-20T09:00:00Z");
    CHECK(last_start("0 9 * * 1-5", "2026-11-21T12:00:00Z") == "2026-11-20T09:00:00Z");
    CHECK(last_start("0 9 * * MON", "2026-11-21T12:00:00Z") == "2026-11-16T09:00:00Z");
    CHECK(last_start("0 9 * * 7", "2026-11-21T12:00:00Z") == "2026-11-15T09:00:00Z");
    CHECK(last_start("*/15 * * * *", "2026-11-21T12:44:59Z") == "2026-11-21T12:30:00Z");
    CHECK(last_start("5/20 3,4 1 jan *", "2026-11-21T12:00:00Z") == "2026-01-01T04:45:00Z");
    CHECK(last_start("@hourly", "2026-11-21T12:44:59Z") == "2026-11-21T12:00:00Z");
    CHECK(last_start("@weekly", "2026-11-21T12:44:59Z") == "2026-11-15T00:00:00Z");
    CHECK(last_start("0 0 29 2 *", "2026-11-21T12:44:59Z").empty());
    // If both days are restricted, either one matches.
    CHECK(last_start("0 0 13 * 5", "2026-11-19T00:00:00Z") == "2026-11-13T00:00:00Z");
    CHECK(last_start("0 0 18 * 5", "2026-11-19T00:00:00Z") == "2026-11-18T00:00:00Z");
}

TEST_CASE("a schedule's last start is found however long ago one counts") {
    const auto found = [](const char* schedule, base::Seconds back) {
        const auto start = CronSchedule::parse(schedule).last_start(time("2027-11-21T12:44:59Z").at, back);
        return start ? api::Time(*start).str() : "";
    };
    CHECK(found("0 0 29 2 *", base::Seconds::max()) == "2024-02-29T00:00:00Z");
    CHECK(found("0 0 31 2 *", base::Seconds::max()).empty());
    CHECK(found("* * * * *", base::Seconds::max()) == "2027-11-21T12:44:00Z");
}

TEST_CASE("a schedule that is no cron expression is refused with the field that is wrong") {
    for (const auto* text :
         {"", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "a * * * *",
          "*/0 * * * *", "5-1 * * * *", "1-2-3 * * * *", "@sometimes"})
        CHECK_THROWS_AS(CronSchedule::parse(text), std::invalid_argument);
    CHECK_THROWS_WITH(CronSchedule::parse("* 24 * * *"),
                      "schedule: \"24\" is not a valid hour of a cron expression");
}

TEST_CASE("a budget is a number of nodes or a percentage, rounded up") {
    api::v1alpha1::Disruption disruption;
    CHECK(allows(disruption, {3, 0}));
    CHECK_FALSE(allows(disruption, {3, 1}));
    CHECK(allows(disruption, {11, 1}));
    disruption.budgets = {{2, {}, "", {}}};
    CHECK(allows(disruption, {3, 1}));
    CHECK_FALSE(allows(disruption, {3, 2}));
    disruption.budgets = {{kNone, {}, "", {}}};
    CHECK_FALSE(allows(disruption, {3, 0}));
    disruption.budgets.clear();
    CHECK(allows(disruption, {3, 3}));
}

TEST_CASE("the room of budgets is that of the strictest one, and never negative") {
    api::v1alpha1::Disruption disruption;
    disruption.budgets = {{"50%", {}, "", {}}, {3, {}, "", {}}, {kNone, {Kind::Expired}, "", {}}};
    const auto room = [&](BudgetUse use, Kind kind) {
        return budget_room(disruption, kind, use, time("2026-11-21T12:00:00Z"));
    };
    CHECK(room({10, 1}, Kind::Drifted) == 2);
    CHECK(room({4, 1}, Kind::Drifted) == 1);
    CHECK(room({4, 4}, Kind::Drifted) == 0);
    CHECK(room({10, 1}, Kind::Expired) == 0);
    disruption.budgets.clear();
    CHECK(room({10, 1}, Kind::Drifted) == std::nullopt);
}

TEST_CASE("the strictest budget that is about the reason wins") {
    api::v1alpha1::Disruption disruption;
    disruption.budgets = {{"100%", {}, "", {}}, {kNone, {Kind::Drifted, Kind::Expired}, "", {}}};
    CHECK_FALSE(allows(disruption, {3, 0}, Kind::Drifted));
    CHECK(allows(disruption, {3, 0}, Kind::Empty));
    CHECK(budget_blocker(disruption, Kind::Expired, {3, 0}, time("2026-11-21T12:00:00Z"))->message ==
          "disruption.budgets allows 0 nodes");
}

TEST_CASE("a budget with a schedule holds for its duration from each start") {
    api::v1alpha1::Disruption disruption;
    disruption.budgets = {{kNone, {}, "0 9 * * 1-5", api::Duration(8h)}};
    CHECK(allows(disruption, {3, 0}, Kind::Empty, "2026-11-20T08:59:59Z"));
    CHECK_FALSE(allows(disruption, {3, 0}, Kind::Empty, "2026-11-20T09:00:00Z"));
    CHECK_FALSE(allows(disruption, {3, 0}, Kind::Empty, "2026-11-20T16:59:59Z"));
    CHECK(allows(disruption, {3, 0}, Kind::Empty, "2026-11-20T17:00:00Z"));
    CHECK(allows(disruption, {3, 0}, Kind::Empty, "2026-11-21T10:00:00Z"));
}

TEST_CASE("a budget that cannot be understood allows nothing and says why") {
    api::v1alpha1::Disruption disruption;
    disruption.budgets = {{"100%", {}, "0 25 * * *", api::Duration(8h)}};
    const auto why = budget_blocker(disruption, Kind::Empty, {3, 0}, time("2026-11-21T12:00:00Z"));
    REQUIRE(why);
    CHECK(why->message.find("\"25\" is not a valid hour") != std::string::npos);
}
