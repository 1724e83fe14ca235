// Tests the removal of empty nodes, against an API server in memory and in virtual time.
#include "controllers/claim/facts/claim_state.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using api::ConditionStatus;
using objects::NodeSmithClaim;
using objects::NodeSmithControlPlane;

namespace {

using World = test::DisruptionWorld;

void put_leaving_taint(World& world, const std::string& name) {
    auto node = world.node(name);
    node.spec.taints.push_back({"kubenodesmith.io/disrupted", "", "NoSchedule", {}});
    world.server.put(node);
}

}  // namespace

TEST_CASE("an empty node is tainted, looked at again, and its claim deleted") {
    World world;
    world.run_for(59s);
    CHECK_FALSE(world.is_tainted("a"));
    world.run_for(4s);
    CHECK(world.is_tainted("a"));
    CHECK(world.disrupted("a") == "True Empty");
    CHECK_FALSE(world.is_leaving("a"));
    world.run_for(4s);
    CHECK(world.is_leaving("a"));
    CHECK(world.pool().status.lastScaleDownTime);
    CHECK(world.events.count("Node a RemovingNode") == 1);
}

TEST_CASE("nodes that are removed together cost two looks at volumes each, and few writes of their pool") {
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) names.push_back("node-" + std::to_string(i));
    World world(names);
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 100; });
    std::size_t looks = 0, writes = 0;
    world.requests.on_request = [&](const base::HttpRequest& request) {
        const auto is_of = [&request](const char* path) {
            return request.target.find(path) != std::string::npos;
        };
        looks += request.method == "GET" && is_of("/persistentvolumes?") && !is_of("watch=") ? 1 : 0;
        writes += request.method == "PATCH" && is_of("/nodesmithpools/small/status") ? 1 : 0;
    };
    world.live(3min);
    CHECK(world.claims().empty());
    CHECK(looks >= names.size());
    CHECK(looks <= 2 * names.size());
    CHECK(writes <= names.size());
}

TEST_CASE("a node with a pod stays, one with pods of DaemonSets or static pods only does not") {
    World world({"busy", "quiet"});
    world.put_running_pod("web", "busy");
    world.put_running_pod("agent", "quiet");
    auto agent = world.server.get<api::Pod>({"default", "agent"}).value();
    api::OwnerReference owner;
    owner.kind = "DaemonSet";
    owner.name = owner.uid = "agent";
    owner.controller = true;
    agent.metadata.ownerReferences = {owner};
    world.server.put(agent);
    world.put_running_pod("static", "quiet");
    world.server.edit<api::Pod>({"default", "static"}, [](auto& pod) {
        pod.metadata.annotations["kubernetes.io/config.mirror"] = "x";
    });
    world.run_for(10min);
    CHECK_FALSE(world.is_leaving("busy"));
    CHECK(world.is_leaving("quiet"));
}

TEST_CASE("a pod that is ending is still a pod") {
    World world;
    world.put_running_pod("web", "a");
    world.server.options().pods_end_after = 10min;
    world.server.remove<api::Pod>({"default", "web"}, 600);
    world.run_for(9min);
    CHECK_FALSE(world.is_leaving("a"));
    world.run_for(5min);
    CHECK(world.is_leaving("a"));
}

TEST_CASE("a pod that was bound between decision and removal brings the node back in service") {
    World world;
    world.run_for(62s);
    REQUIRE(world.is_tainted("a"));
    world.put_running_pod("web", "a");
    world.run_for(20s);
    CHECK_FALSE(world.is_leaving("a"));
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.disrupted("a") == "False NotEmpty");
    CHECK(world.events.count("RemovalUndone") == 1);
}

// Otherwise the removal would begin again immediately, thousands of times a second.
TEST_CASE(
    "a pod that the cache has not heard of keeps its node, and the removal does not begin anew at once") {
    World world;
    world.run_for(30s);
    world.server.options().watch_delay = 1h;
    world.put_running_pod("web", "a");
    world.server.options().watch_delay = 0s;
    world.run_for(5min);
    CHECK_FALSE(world.is_leaving("a"));
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.disrupted("a") == "False NotEmpty");
    CHECK(world.events.count("RemovalUndone") == 1);
}

TEST_CASE("a removal that a crash interrupted is finished, or undone, by the next process") {
    World world;
    world.run_for(500ms);
    if (GENERATE(false, true)) {
        put_leaving_taint(world, "a");
    }
    auto claim = world.claim("a");
    objects::set_condition(claim.status.conditions, "Disrupted", ConditionStatus::True, objects::kStart,
                           "Empty");
    claim.status.emptySince = objects::at(-120s);
    world.server.put(claim);
    world.disruption_reports.forget({"default", "a"});
    SECTION("still empty") {
        world.run_for(10s);
        CHECK(world.is_leaving("a"));
    }
    SECTION("no longer empty") {
        world.put_running_pod("web", "a");
        world.run_for(10s);
        CHECK_FALSE(world.is_leaving("a"));
        CHECK_FALSE(world.is_tainted("a"));
    }
}

TEST_CASE("a taint that no decision stands behind is removed") {
    World world;
    world.put_running_pod("web", "a");
    put_leaving_taint(world, "a");
    world.run_for(5s);
    CHECK_FALSE(world.is_tainted("a"));
}

// Otherwise the two reconcilers would add and remove the taint in turns, every second.
TEST_CASE("the taint of a node whose machine goes because its launch failed is not ours to remove") {
    World world;
    world.hold_machines();
    world.put_running_pod("web", "a");
    put_leaving_taint(world, "a");
    world.server.edit<NodeSmithClaim>({"default", "a"}, [](NodeSmithClaim& claim) {
        const controllers::claim::Failure failure{"InitializationTimeout", "not initialized within 15m", ""};
        controllers::claim::fail_attempt(claim.status, failure, 3, {});
    });
    world.run_for(5s);
    CHECK(world.is_tainted("a"));
}

TEST_CASE("nodes leave one by one unless the pool allows more") {
    World world({"a", "b", "c"});
    world.hold_machines();
    SECTION("one") {
        world.run_for(2min);
        CHECK(world.is_leaving("a") + world.is_leaving("b") + world.is_leaving("c") == 1);
        world.let_go();
        world.run_for(10s);
        world.hold_machines();
        world.run_for(1min);
        CHECK(world.server.list<NodeSmithClaim>().size() == 2);
        CHECK(world.is_leaving("a") + world.is_leaving("b") + world.is_leaving("c") == 2);
        world.let_go();
        world.run_for(1min);
        CHECK(world.server.list<NodeSmithClaim>().empty());
    }
    SECTION("two, but the budget allows one") {
        world.edit_pool([](auto& pool) {
            pool.spec.scaleDown.maxConcurrent = 2;
            pool.spec.disruption.budgets = {{"10%", {}, "", {}}};
        });
        world.run_for(2min);
        CHECK(world.is_leaving("a") + world.is_leaving("b") + world.is_leaving("c") == 1);
        CHECK(world.events.count(
                  "DisruptionBlocked: Empty, but the node stays: disruption.budgets allows 10%") == 2);
    }
    SECTION("two") {
        world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 2; });
        world.run_for(2min);
        CHECK(world.is_leaving("a") + world.is_leaving("b") + world.is_leaving("c") == 2);
    }
}

TEST_CASE("minNodes stay") {
    World world({"a", "b", "c"});
    world.edit_pool([](auto& pool) {
        pool.spec.limits.minNodes = 2;
        pool.spec.scaleDown.maxConcurrent = 0;
    });
    for (int i = 0; i < 10; ++i) {
        world.run_for(1min);
    }
    CHECK(world.server.list<NodeSmithClaim>().size() == 2);
    CHECK(world.events.count("DisruptionBlocked: Empty, but the node stays: the pool keeps at least 2") == 2);
}

TEST_CASE("why an empty node stays is said once, and nothing is written while it stays") {
    World world;
    world.edit_pool([](auto& pool) { pool.spec.scaleUp.headroom.nodes = 1; });
    world.run_for(2min);
    CHECK(world.events.count("DisruptionBlocked: Empty, but the node stays: without it a new machine "
                             "would be needed to keep 1 node spare") == 1);
    const auto writes = world.writes();
    world.run_for(6h);
    CHECK(world.writes() == writes);
    CHECK(world.events.lines.size() == 1);
    CHECK_FALSE(world.is_leaving("a"));
}

TEST_CASE("a pod that waits keeps the empty node that it would be put on, and no other") {
    World world({"a", "b"});
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 2; });
    world.server.edit<api::Node>({"", "b"}, [](auto& node) { node.metadata.labels["disk"] = "ssd"; });
    world.put_pending_pod("choosy");
    world.server.edit<api::Pod>({"default", "choosy"},
                                [](auto& pod) { pod.spec.nodeSelector = {{"disk", "ssd"}}; });
    world.run_for(5min);
    CHECK(world.is_leaving("a"));
    CHECK(world.disrupted("b").empty());
    CHECK(world.events.count("Node b DisruptionBlocked: Empty, but the node stays: pod default/choosy") == 1);
}

TEST_CASE("a scale-up holds removals back for the stabilization window") {
    World world;
    auto pool = world.pool();
    pool.spec.scaleDown.stabilizationWindow = 5min;
    pool.status.lastScaleUpTime = api::Time(world.clock.wall_now());
    world.server.put(pool);
    world.run_for(290s);
    CHECK(world.disrupted("a").empty());
    world.run_for(30s);
    CHECK(world.is_leaving("a"));
}

TEST_CASE("Observe says what would go, Paused nothing; neither does anything") {
    World world;
    const auto mode = GENERATE(api::v1alpha1::Mode::Observe, api::v1alpha1::Mode::Paused);
    world.server.edit<NodeSmithControlPlane>({"default", "main"}, [&](auto& c) { c.spec.mode = mode; });
    world.run_for(10min);
    CHECK(world.disrupted("a").empty());
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.events.count("WouldRemove") == (mode == api::v1alpha1::Mode::Observe ? 1 : 0));
}

TEST_CASE("pausing undoes a removal that is under way") {
    World world;
    world.run_for(62s);
    REQUIRE(world.is_tainted("a"));
    world.server.edit<NodeSmithControlPlane>({"default", "main"},
                                             [](auto& c) { c.spec.mode = api::v1alpha1::Mode::Paused; });
    world.run_for(10s);
    CHECK_FALSE(world.is_tainted("a"));
    CHECK_FALSE(world.is_leaving("a"));
}

TEST_CASE("a user's cordon is respected and never undone") {
    World world;
    world.server.edit<api::Node>({"", "a"}, [](auto& node) { node.spec.unschedulable = true; });
    world.run_for(10min);
    CHECK_FALSE(world.is_leaving("a"));
    CHECK(world.node("a").spec.unschedulable);
}

TEST_CASE("nothing is removed by a process that may no longer lead") {
    World world;
    world.may_mutate = false;
    world.run_for(10min);
    CHECK_FALSE(world.is_leaving("a"));
}
