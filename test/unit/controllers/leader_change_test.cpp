// A leader's knowledge of the last hour and of unsuccessful tries is in the API, so its successor decides
// alike (docs/operations.md, "A change of leader").
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/facts/removal_rate.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using controllers::disruption::Kind;
using objects::at;
using objects::NodeSmithClaim;
using objects::NodeSmithPool;
using World = test::DisruptionWorld;

namespace {

NodeSmithClaim with_disruption(const std::string& name, api::ConditionStatus status,
                               const std::string& message, std::chrono::seconds when) {
    auto claim = objects::created_claim(name, objects::pool("small"), 1);
    claim.metadata.uid = "uid-" + name;
    const api::ConditionUpdate update{"Disrupted", status, "Drifted", message, 1};
    api::set_condition(claim.status.conditions, update, at(when));
    return claim;
}

NodeSmithClaim created(const std::string& uid, std::chrono::seconds when) {
    auto claim = objects::created_claim(uid, objects::pool("small"), 1);
    claim.metadata.uid = uid;
    claim.metadata.creationTimestamp = at(when);
    return claim;
}

}  // namespace

TEST_CASE("removals of the last hour are counted from the pool's status, each claim once") {
    auto pool = objects::pool("small");
    const auto a = with_disruption("a", api::ConditionStatus::True, "", 0s);
    const auto b = with_disruption("b", api::ConditionStatus::True, "", 0s);
    controllers::NodeSmithControlPlane manager;
    manager.metadata.creationTimestamp = at(-1h);
    // A removal that was decided but not begun counts. Otherwise too many others could be removed beside it.
    CHECK(controllers::removals_last_hour(pool, objects::pointers({a}), manager, at(0s)) == 1);
    pool.status.recentRemovals = controllers::with_removal(pool, a, at(0s));
    pool.status.recentRemovals = controllers::with_removal(pool, a, at(5s));
    pool.status.recentRemovals = controllers::with_removal(pool, b, at(30min));
    CHECK(pool.status.recentRemovals.size() == 2);
    CHECK(controllers::removals_last_hour(pool, objects::pointers({a}), manager, at(30min)) == 2);
    CHECK(controllers::removals_last_hour(pool, {}, manager, at(60min + 5s)) == 1);
    CHECK(controllers::removals_last_hour(pool, {}, manager, at(90min)) == 0);
    CHECK(controllers::with_removal(pool, a, at(90min)).size() == 1);
    // A calendar that was years ahead does not block removals for years.
    pool.status.recentRemovals = {{"c", at(87600h)}, {"d", at(100s)}, {"e", std::nullopt}};
    CHECK(controllers::removals_last_hour(pool, {}, manager, at(0s)) == 1);
}

TEST_CASE("a control plane that was made anew under an old name inherits no removals") {
    auto pool = objects::pool("small");
    const auto a = with_disruption("a", api::ConditionStatus::True, "", 0s);
    pool.status.recentRemovals = controllers::with_removal(pool, a, at(0s));
    controllers::NodeSmithControlPlane manager;
    manager.metadata.creationTimestamp = at(1min);
    CHECK(controllers::removals_last_hour(pool, {}, manager, at(2min)) == 0);
}

TEST_CASE("creations of the last hour are counted from claims and from the pool's memory, each claim once") {
    using controllers::provisioning::creations_last_hour;
    auto pool = objects::pool("small");
    auto by_hand = created("by-hand", 0s);
    by_hand.metadata.ownerReferences->clear();
    by_hand.spec.idempotencyKey.clear();
    const std::vector<NodeSmithClaim> claims{created("one", 0s), created("two", 30min), by_hand};
    CHECK(creations_last_hour(pool, objects::pointers(claims), at(40min)) == 2);
    CHECK(creations_last_hour(pool, objects::pointers(claims), at(61min)) == 1);
    pool.metadata.annotations[std::string(controllers::provisioning::kPastLaunches)] =
        R"([{"claim":"two","time":")" + at(30min).str() + R"(","pods":[]},{"claim":"gone","time":")" +
        at(10min).str() + R"(","pods":[]}])";
    CHECK(creations_last_hour(pool, objects::pointers(claims), at(40min)) == 3);
    CHECK(creations_last_hour(pool, {}, at(71min)) == 1);
}

TEST_CASE("a claim that failed before it had a machine does not count as a created machine") {
    using controllers::provisioning::creations_last_hour;
    auto refused = created("refused", 0s);
    objects::set_condition(refused.status.conditions, api::conditions::kFailed, api::ConditionStatus::True);
    CHECK(creations_last_hour(objects::pool("small"), objects::pointers({refused}), at(1min)) == 0);
    refused.status.hasRun = true;
    CHECK(creations_last_hour(objects::pool("small"), objects::pointers({refused}), at(1min)) == 1);
}

TEST_CASE("what was given up is not begun again for five minutes, by whatever leader") {
    using controllers::disruption::undone_lately;
    auto claim =
        with_disruption("a", api::ConditionStatus::False, "the node stays: it drains too slowly", 0s);
    CHECK_FALSE(undone_lately(claim, Kind::Drifted, at(1s)));
    claim.status.undoneDisruption = "Drifted";
    const auto undone = undone_lately(claim, Kind::Drifted, at(299s));
    REQUIRE(undone);
    CHECK(undone->message == "it drains too slowly");
    CHECK(undone->until == at(300s));
    CHECK_FALSE(undone_lately(claim, Kind::Drifted, at(300s)));
    // Other problems of the node are judged separately.
    CHECK_FALSE(undone_lately(claim, Kind::Unhealthy, at(1s)));
    claim.status.conditions.front().status = api::ConditionStatus::True;
    CHECK_FALSE(undone_lately(claim, Kind::Drifted, at(1s)));
}

TEST_CASE("machines that did not come instead of nodes are waited for in the pool's status") {
    using controllers::disruption::may_replace, controllers::disruption::paused_again;
    auto pool = objects::pool("small");
    CHECK(may_replace(pool, at(0s)));
    pool.status.replacementPause = paused_again(pool, at(0s));
    CHECK_FALSE(may_replace(pool, at(599s)));
    CHECK(may_replace(pool, at(600s)));
    pool.status.replacementPause = paused_again(pool, at(600s));
    CHECK_FALSE(may_replace(pool, at(600s + 1199s)));
    // A value that somebody else wrote does no harm.
    pool.status.replacementPause->count = 2'000'000'000;
    CHECK(paused_again(pool, at(0s)).nextRetryTime == at(6h));
    pool.status.replacementPause->count = -5;
    CHECK(paused_again(pool, at(0s)).nextRetryTime == at(10min));
}

TEST_CASE("no more nodes leave within an hour than the rate allows, however many may leave at a time") {
    World world({"a", "b", "c", "d"});
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 4; });
    world.server.edit<objects::NodeSmithControlPlane>(
        {"default", "main"}, [](auto& manager) { manager.spec.rateLimits.maxRemovalsPerHour = 2; });
    world.live(50min);
    CHECK(world.claims().size() == 2);
    CHECK(world.pool().status.recentRemovals.size() == 2);
    world.live(30min);
    CHECK(world.claims().empty());
}

TEST_CASE("a new leader takes no node away before it knows what the last one's evictions became") {
    World world({"a"});
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.emptyGracePeriod = 0s; });
    world.live(9s);
    CHECK(world.disrupted("a").empty());
    world.live(5s);
    CHECK_FALSE(world.disrupted("a").empty());
}
