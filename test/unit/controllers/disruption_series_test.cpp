// Tests series of replacements. They end when a replacement has the same cause as the machine that it
// replaced.
#include "controllers/disruption/facts/replacements.hpp"
#include "controllers/disruption/rules/series.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

namespace {

using namespace controllers;
using namespace controllers::disruption;
using namespace std::chrono_literals;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;
using objects::at;

// Replacement is a node whose machine replaced another one, with the knowledge about it.
struct Replacement {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithClaim claim = objects::in_service(objects::created_claim("b", pool, 2));
    api::Node node = objects::node("b");
    NodeFacts facts{pool, claim, node};

    Replacement() {
        facts.drift = "it differs";
        facts.drift_cause = "3-now";
        facts.template_hash = "3-now";
        claim.status.host = "pve1";
    }
    void replaces_for(Kind kind, std::int32_t count = 1) {
        auto& annotations = *claim.metadata.annotations;
        annotations["kubenodesmith.io/replaces"] = "a";
        annotations["kubenodesmith.io/replaces-for"] = cause_of(facts, kind);
        annotations["kubenodesmith.io/replacements-in-a-row"] = std::to_string(count);
    }
    bool has_ended(Kind kind, std::chrono::seconds now = 1h) const {
        return series_blocker(facts, kind, at(now)).has_value();
    }
};

TEST_CASE("a replacement that shows the cause of what it replaced is not replaced") {
    Replacement b;
    CHECK_FALSE(b.has_ended(Kind::Drifted));
    for (const auto kind : {Kind::Drifted, Kind::Evacuation}) {
        b.replaces_for(kind);
        CHECK(b.has_ended(kind));
    }
    const auto why = series_blocker(b.facts, Kind::Evacuation, at(1h));
    CHECK(why->reason == "ReplacementDoesNotHelp");
    CHECK_THAT(why->message,
               Catch::Contains("it replaced a") && Catch::Contains("kubenodesmith.io/retry-replacement"));
}

TEST_CASE("a node that is not Ready or hardly used gets a second replacement, and no third") {
    Replacement b;
    for (const auto kind : {Kind::Unhealthy, Kind::Underutilized}) {
        b.replaces_for(kind, 1);
        CHECK_FALSE(b.has_ended(kind));
        b.replaces_for(kind, 2);
        CHECK(b.has_ended(kind));
    }
}

TEST_CASE("a cause fits into a status, however long the words of others are, and is still told from others") {
    constexpr std::size_t kLongest = 512;  // crds/nodesmithclaims.yaml
    Replacement b;
    const auto cause_with = [&b](const std::string& asked) {
        b.facts.drift_cause = asked;
        return cause_of(b.facts, Kind::Drifted);
    };
    const auto cause = cause_with(std::string(2000, 'x'));
    CHECK(cause.size() <= kLongest);
    CHECK(cause == cause_with(std::string(2000, 'x')));
    CHECK(cause != cause_with(std::string(2000, 'x') + "y"));
    CHECK(cause_with("asked/" + std::string(200'000, 'x')).size() <= kLongest);
}

TEST_CASE("a node that fails in another way than its predecessor continues its series") {
    Replacement b;
    const auto fails_by = [&b](const std::string& reason) {
        b.node.status.conditions = {{"Ready", api::ConditionStatus::False, {}, {}, reason, ""}};
    };
    fails_by("KubeletNotReady");
    b.replaces_for(Kind::Unhealthy, 2);
    fails_by("NodeStatusUnknown");
    CHECK(b.has_ended(Kind::Unhealthy));
    b.facts.machine_stopped = true;
    CHECK(b.has_ended(Kind::Unhealthy));
}

TEST_CASE("another cause begins another series") {
    Replacement b;
    SECTION("another edit of the configuration") {
        b.replaces_for(Kind::Drifted);
        b.facts.drift_cause = "3-later";
        CHECK_FALSE(b.has_ended(Kind::Drifted));
    }
    SECTION("another host that is evacuated, or the same one a week later") {
        b.replaces_for(Kind::Evacuation);
        CHECK_FALSE(b.has_ended(Kind::Evacuation, 168h));
        b.claim.status.host = "pve2";
        CHECK_FALSE(b.has_ended(Kind::Evacuation));
    }
    SECTION("a changed configuration, or the same ailment weeks later") {
        b.replaces_for(Kind::Unhealthy, 2);
        CHECK_FALSE(b.has_ended(Kind::Unhealthy, 400h));
        b.facts.template_hash = "3-mended";
        CHECK_FALSE(b.has_ended(Kind::Unhealthy));
    }
    SECTION("another kind") {
        b.replaces_for(Kind::Drifted);
        CHECK_FALSE(b.has_ended(Kind::Expired));
    }
}

TEST_CASE("expiry goes on for ever, unless machines are as old as they may get when they come into service") {
    Replacement b;
    b.claim.metadata.creationTimestamp = objects::kStart;
    b.pool.spec.disruption.expireAfter = {api::Duration(720h)};
    objects::set_condition(b.claim.status.conditions, "Initialized", ConditionStatus::True);
    for (auto& condition : b.claim.status.conditions) condition.lastTransitionTime = at(5min);
    b.replaces_for(Kind::Expired, 7);
    CHECK_FALSE(b.has_ended(Kind::Expired, 720h));
    b.pool.spec.disruption.expireAfter = {api::Duration(6min)};
    b.replaces_for(Kind::Expired);
    CHECK(b.has_ended(Kind::Expired));
}

TEST_CASE("a new value of the pool's annotation asks for another try, once") {
    Replacement b;
    b.replaces_for(Kind::Drifted);
    b.pool.metadata.annotations["kubenodesmith.io/retry-replacement"] = "1";
    CHECK_FALSE(b.has_ended(Kind::Drifted));
    provisioning::PlannedClaim planned;
    planned.replaces = api::v1alpha1::OpenReplacement{"b", cause_of(b.facts, Kind::Drifted), 1, at(0s)};
    b.claim.metadata.annotations = provisioning::make_claim(b.pool, 3, planned).metadata.annotations;
    CHECK(b.has_ended(Kind::Drifted));
}

TEST_CASE("a removed machine is remembered until a claim takes its place, or for an hour") {
    auto pool = objects::pool("small");
    auto a = objects::in_service(objects::created_claim("a", pool, 1));
    a.status.disruptionCause = "Drifted/2-now";
    objects::set_condition(a.status.conditions, "Disrupted", ConditionStatus::True);
    const auto live = std::make_shared<const objects::NodeSmithClaim>(a);
    REQUIRE(open_replacements(pool, {live}, at(0s)).size() == 1);
    pool.status.openReplacements = with_removed(pool, {live}, a, at(0s));
    REQUIRE(open_replacements(pool, {live}, at(0s)).size() == 1);
    REQUIRE(open_replacements(pool, {}, at(59min)).size() == 1);
    CHECK(open_replacements(pool, {}, at(59min))[0].count == 1);
    CHECK(open_replacements(pool, {}, at(60min)).empty());
    auto b = objects::created_claim("b", pool, 2);
    b.metadata.annotations["kubenodesmith.io/replaces"] = "a";
    CHECK(
        open_replacements(pool, {live, std::make_shared<const objects::NodeSmithClaim>(b)}, at(0s)).empty());
}

TEST_CASE("what a pool remembers of removed machines is bounded") {
    auto pool = objects::pool("small");
    for (int i = 0; i < 100; ++i) {
        auto claim = objects::created_claim("c" + std::to_string(i), pool, i);
        claim.status.disruptionCause = "Drifted/2-now";
        pool.status.openReplacements = with_removed(pool, {}, claim, at(0s));
    }
    CHECK(pool.status.openReplacements.size() == 16);
    CHECK(pool.status.openReplacements.back().claim == "c99");
}

// ---- the operator at work

std::string pool_condition(World& world, const std::string& type) {
    const auto pool = world.server.get<objects::NodeSmithPool>({"default", "small"});
    const auto* condition = api::find_condition(pool->status.conditions, type);
    return condition ? std::string(api::to_string(condition->status)) + " " + condition->reason : "";
}

TEST_CASE(
    "drift that each new machine shows again replaces one machine, is told of, and another try may be "
    "asked") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    std::set<std::string> seen{"a"};
    world.made_from("a", "3-another template");
    const auto live = [&](std::chrono::minutes duration) {
        for (std::chrono::minutes passed{0}; passed < duration; passed += 1min) {
            world.live(1min);
            // No new machine ever matches the pool.
            for (const auto& claim : world.claims()) {
                if (!seen.insert(claim.metadata.name).second) continue;
                world.made_from(claim.metadata.name, "3-another template");
            }
        }
    };
    live(30min);
    CHECK(seen.size() == 2);
    CHECK(pool_condition(world, "ReplacementDoesNotHelp") == "True Drifted");
    CHECK(world.events.count("ReplacementDoesNotHelp") == 1);
    CHECK(world.claims().size() == 1);
    world.edit_pool(
        [](auto& pool) { pool.metadata.annotations["kubenodesmith.io/retry-replacement"] = "now"; });
    live(30min);
    CHECK(seen.size() == 3);
    CHECK(pool_condition(world, "ReplacementDoesNotHelp") == "True Drifted");
    const auto last = world.claims().at(0).metadata.name;
    const auto good = world.server.get<objects::NodeSmithPool>({"default", "small"});
    world.made_from(last, "");
    world.live(1min);
    CHECK(pool_condition(world, "ReplacementDoesNotHelp").empty());
}

TEST_CASE("nodes that break again and again are replaced twice and then left for a person") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    std::set<std::string> seen{"a"};
    for (int minute = 0; minute < 180; ++minute) {
        for (const auto& claim : world.claims()) {
            seen.insert(claim.metadata.name);
            const bool serves = api::is_true(claim.status.conditions, "Initialized");
            if (serves && world.server.get<api::Node>({"", claim.metadata.name}))
                world.set_ready(claim.metadata.name, false);
        }
        world.live(1min, 5s);
    }
    CHECK(seen.size() <= 3);
    CHECK(pool_condition(world, "ReplacementDoesNotHelp") == "True Unhealthy");
}

}  // namespace
