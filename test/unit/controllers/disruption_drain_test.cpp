// Tests the pods of a node that is drained: which of them the operator waits for, and what a deadline does.
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;

namespace {

// Returns a budget for the pods of replicas. The eviction API decrements it, and nothing here increments it
// again.
api::PodDisruptionBudget budget(std::int32_t allowed) {
    api::PodDisruptionBudget result;
    result.metadata.namespace_ = "default";
    result.metadata.name = "web";
    result.spec.selector.emplace().matchLabels = {{"app", "web"}};
    result.spec.maxUnavailable = api::IntOrString(allowed);
    // The controller has seen the budget, however often it changes.
    result.status.observedGeneration = 1000;
    result.status.disruptionsAllowed = allowed;
    result.status.expectedPods = 2;
    result.status.desiredHealthy = 2 - allowed;
    return result;
}

// Stuck has a node with two pods that fit elsewhere. The budget refuses the second eviction.
struct Stuck : World {
    Stuck() : World({"a", "b"}, Launching::on, 8) {
        put_running_pod("one", "a");
        put_running_pod("two", "a");
        put_running_pod("large", "b", "5");
        server.put(budget(1));
        edit_pool([](auto& pool) { pool.spec.scaleDown.drainTimeout = 2min; });
    }
};

}  // namespace

TEST_CASE("a drain that ends too late is aborted and the node back in service") {
    Stuck world;
    // The other node could be removed in the meantime.
    world.server.edit<api::Node>({"", "b"}, [](api::Node& node) {
        node.metadata.annotations = api::StringMap{{std::string(api::annotations::kDoNotDisrupt), "true"}};
    });
    world.live(90s);
    REQUIRE(world.disrupted("a") == "True Underutilized");
    CHECK(world.condition("a", "Drained") == "False BlockedByBudget");
    CHECK(world.place_of("one") + world.place_of("two") != "aa");
    world.live(2min);
    CHECK(world.disrupted("a") == "False DrainTimeout");
    CHECK(world.condition("a", "Drained").empty());
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.events.count("RemovalUndone: the node stays: it was not empty after 2m") == 1);
    // The operator waits for delayAfterFailure before it tries again.
    world.server.put(budget(1));
    world.live(7min);
    CHECK(world.disrupted("a") == "False DrainTimeout");
    world.live(10min);
    CHECK_FALSE(world.find("a"));
}

TEST_CASE("an eviction that a budget refused is tried again until it is allowed") {
    Stuck world;
    world.live(90s);
    REQUIRE(world.condition("a", "Drained") == "False BlockedByBudget");
    world.server.put(budget(1));
    world.live(20s);
    CHECK_FALSE(world.find("a"));
    CHECK(world.place_of("one") == "b");
    CHECK(world.place_of("two") == "b");
}

TEST_CASE("with drainTimeoutAction Force the pods that are left at its end are deleted") {
    Stuck world;
    world.edit_pool([](auto& pool) {
        pool.spec.scaleDown.drainTimeoutAction = api::v1alpha1::DrainTimeoutAction::Force;
    });
    world.live(90s);
    REQUIRE(world.condition("a", "Drained") == "False BlockedByBudget");
    world.live(2min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.place_of("one") == "b");
    CHECK(world.place_of("two") == "b");
}

TEST_CASE("the terminationGracePeriod of its claim ends the waiting for pods of an expired node") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.server.put(budget(0));
    world.edit_pool([](auto& pool) { pool.spec.disruption.expireAfter.duration = 5min; });
    const bool has_deadline = GENERATE(true, false);
    if (has_deadline)
        world.server.edit<objects::NodeSmithClaim>(
            {"default", "a"}, [](auto& claim) { claim.spec.terminationGracePeriod = api::Duration(3min); });
    world.live(7min);
    CHECK(world.find("a"));
    CHECK(world.place_of("one") == "a");
    world.live(5min);
    CHECK(world.find("a").has_value() == !has_deadline);
    CHECK((world.place_of("one") == "a") == !has_deadline);
}

TEST_CASE("a budget that allows nothing keeps the node until it gives way") {
    World world({"a", "b"}, Launching::on, 4);
    world.server.put(budget(0));
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b");
    world.live(5min);
    CHECK(world.disrupted("a").empty());
    CHECK(world.events.count("is kept by PodDisruptionBudget default/web") == 2);
    world.server.put(budget(2));
    world.live(3min);
    CHECK(world.claims().size() == 1);
}

// The first pod waits for the end of its node. If its budget kept the other pods there, the drain would be
// aborted and repeated every twenty minutes.
TEST_CASE(
    "a node whose pods fit elsewhere only after its removal is drained if their budgets allow all "
    "evictions") {
    World world({"a", "b"}, Launching::on, 8);
    const bool may_all_go = GENERATE(false, true);
    world.server.put(budget(may_all_go ? 2 : 1));
    for (const auto& [name, node] : {std::pair{"one", "a"}, {"two", "a"}, {"three", "b"}, {"four", "b"}}) {
        world.put_running_pod(name, node);
        world.server.edit<api::Pod>({"default", name}, [](api::Pod& pod) {
            auto& constraint = pod.spec.topologySpreadConstraints->emplace_back();
            constraint.topologyKey = api::labels::kHostname;
            constraint.labelSelector.emplace().matchLabels = {{"app", "web"}};
        });
    }
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::Never; });
    world.made_from("a", "3-another template");
    world.live(3min);
    CHECK(world.find("a").has_value() == !may_all_go);
    CHECK(world.events.count("DrainsFirst") == (may_all_go ? 1 : 0));
    CHECK(world.events.count("RemovalUndone") == 0);
    const auto told = world.events.count(
        "its pods fit elsewhere only once it is gone, and PodDisruptionBudget default/web allows only 1 of "
        "its 2 pods here to be evicted at the same time");
    CHECK((told == 1) == !may_all_go);
    if (!may_all_go) CHECK(world.place_of("one") == "a");
}
