#include "controllers/limits/limits.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

namespace limits = controllers::limits;
using api::ConditionStatus;
using limits::Limits;
using limits::Usage;

TEST_CASE("what fits the limits exactly is admitted, one more is not") {
    struct Row {
        Limits limits;
        Usage used, wanted;
        std::string refused_by;  // "" = admitted
    };
    const Row rows[] = {
        {{0, 0, 0}, {1000, 9000, 9000000}, {1, 64, 262144}, ""},
        {{3, 0, 0}, {2, 0, 0}, {1, 4, 8192}, ""},
        {{3, 0, 0}, {3, 0, 0}, {1, 4, 8192}, "MaxNodesReached"},
        {{0, 16, 0}, {3, 12, 0}, {1, 4, 8192}, ""},
        {{0, 16, 0}, {3, 13, 0}, {1, 4, 8192}, "ResourceLimitReached"},
        {{0, 0, 8192}, {0, 0, 0}, {1, 4, 8192}, ""},
        {{0, 0, 8191}, {0, 0, 0}, {1, 4, 8192}, "ResourceLimitReached"},
        {{2, 0, 0}, {5, 0, 0}, {1, 1, 1}, "MaxNodesReached"},  // the limit is below the present use
    };
    for (const auto& row : rows) {
        const auto hit = limits::admits(row.limits, row.used, row.wanted);
        CHECK((hit ? hit->reason : "") == row.refused_by);
    }
}

TEST_CASE("a refusal says how much of which limit is in use and how much more is needed") {
    const auto hit = limits::admits({0, 16, 0}, {3, 13, 0}, {1, 4, 8192});
    REQUIRE(hit);
    CHECK(hit->message == "13 of 16 CPU cores are in use, 4 more are needed");
    CHECK(limits::admits({5, 0, 0}, {5, 0, 0}, {1, 1, 1})->message == "5 of 5 nodes are in use");
}

TEST_CASE("a claim counts against limits as long as it may have a machine") {
    const auto pool = objects::pool("small");
    auto launched = objects::created_claim("launched", pool, 1);
    CHECK(limits::counts(launched));

    SECTION("a failed claim counts until its machine is verified gone") {
        objects::set_condition(launched.status.conditions, "Failed", ConditionStatus::True);
        CHECK(limits::counts(launched));
        objects::set_condition(launched.status.conditions, "MachineDeleted", ConditionStatus::False);
        CHECK(limits::counts(launched));
        objects::set_condition(launched.status.conditions, "MachineDeleted", ConditionStatus::True);
        CHECK_FALSE(limits::counts(launched));
    }
    SECTION("a deleted claim counts until its machine is verified gone") {
        launched.metadata.deletionTimestamp = objects::kStart;
        CHECK(limits::counts(launched));
        objects::set_condition(launched.status.conditions, "MachineDeleted", ConditionStatus::True);
        CHECK_FALSE(limits::counts(launched));
    }
    SECTION("a claim between two attempts still counts") {
        objects::set_condition(launched.status.conditions, "MachineDeleted", ConditionStatus::True);
        CHECK(limits::counts(launched));
    }
}

TEST_CASE("a claim that a user applied counts from its admission on") {
    const auto pool = objects::pool("small");
    auto manual = objects::claim("manual", pool);
    CHECK_FALSE(limits::is_created_by_pool(manual));
    CHECK_FALSE(limits::counts(manual));
    manual.status.providerRef = "proxmox";
    CHECK(limits::counts(manual));
}

TEST_CASE(
    "a claim that a user applied counts while its status may be lost and its machine is not identified") {
    auto manual = objects::claim("manual", objects::pool("small"));
    const auto waits_for = [&manual](const char* reason) {
        objects::set_condition(manual.status.conditions, "Launched", ConditionStatus::False, objects::kStart,
                               reason);
    };
    for (const auto* reason :
         {"MachineNotKnown", "MachineNotShown", "SeveralMachines", "MarkOfOtherMachine"}) {
        INFO(reason);
        waits_for(reason);
        CHECK(limits::counts(manual));
        CHECK_FALSE(limits::is_admitted(manual));
    }
    waits_for("LimitExceeded");
    CHECK_FALSE(limits::counts(manual));
}

TEST_CASE("an idempotency key marks a pool's claim only with the UID of the owning pool and a number") {
    const auto pool = objects::pool("small");
    auto claim = objects::created_claim("a", pool, 17);
    CHECK(limits::is_created_by_pool(claim));
    for (const auto* key : {"", "d7f1c0de-0000-4000-8000-000000000000", "uid-of-default-small",
                            "uid-of-default-small/", "uid-of-default-small/x1", "uid-of-other/17"}) {
        claim.spec.idempotencyKey = key;
        CHECK_FALSE(limits::is_created_by_pool(claim));
    }
}

TEST_CASE("requirements that a claim leaves open are the pool's smallest size") {
    auto pool = objects::pool("small");
    CHECK(limits::size_of({}, &pool) == api::v1alpha1::Size{1, 1024});
    pool.spec.machineTemplate.sizes = {{"large", 8, 16384}, {"small", 2, 4096}, {"wide", 2, 8192}};
    CHECK(limits::size_of({}, &pool) == api::v1alpha1::Size{2, 4096});
    api::v1alpha1::ClaimSpec spec;
    spec.requirements = {6, 0};
    CHECK(limits::size_of(spec, &pool) == api::v1alpha1::Size{6, 4096});
    CHECK(limits::size_of(spec, nullptr) == api::v1alpha1::Size{6, 0});
}

TEST_CASE("a reservation of somebody else is believed for a minute") {
    api::v1alpha1::Reserved reserved;
    const auto wall = [](std::chrono::seconds s) { return base::WallTime(objects::at(s).at); };
    using namespace std::chrono_literals;
    CHECK(limits::unsettled_for(reserved, wall(0s)) == 0s);
    reserved.time = objects::kStart;
    CHECK(limits::unsettled_for(reserved, wall(0s)) == 61s);
    CHECK(limits::unsettled_for(reserved, wall(60s)) == 1s);
    CHECK(limits::unsettled_for(reserved, wall(61s)) == 0s);
    // A clock that is behind makes it wait longer. A clock that was clearly wrong does not make it wait for
    // ever.
    CHECK(limits::unsettled_for(reserved, wall(-30s)) == 91s);
    CHECK(limits::unsettled_for(reserved, wall(-3600s)) == 0s);
}

TEST_CASE("R9: as much as fits is granted, in order, and the first limit in the way is named") {
    using limits::grant;
    using limits::LimitUse;
    const std::vector<api::v1alpha1::Size> three(3, {4, 8192});

    const auto two_of_three = grant(three, LimitUse{{2, 0, 0}, {}}, LimitUse{});
    CHECK(two_of_three.granted == std::vector<bool>{true, true, false});
    CHECK(two_of_three.total == Usage{2, 8, 16384});
    REQUIRE(two_of_three.limit_hit);
    CHECK(two_of_three.limit_hit->message == "2 of 2 nodes are in use");

    // A large claim that does not fit leaves room for a small one behind it.
    const auto skipping = grant({{8, 1024}, {2, 1024}}, LimitUse{{0, 4, 0}, {}}, LimitUse{});
    CHECK(skipping.granted == std::vector<bool>{false, true});

    // The control plane's limit holds as well.
    const auto by_manager = grant(three, LimitUse{{10, 0, 0}, {}}, LimitUse{{5, 0, 0}, {4, 0, 0}});
    CHECK(by_manager.granted == std::vector<bool>{true, false, false});
    CHECK(grant({}, LimitUse{}, LimitUse{}).total == Usage{});
}
