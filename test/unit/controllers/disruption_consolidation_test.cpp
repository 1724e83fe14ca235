// Tests how the operator saves nodes that are hardly used, or that the pool does not need.
#include "controllers/disruption/rules/use.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using controllers::disruption::NodeUse;
using controllers::disruption::PoolUse;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;

namespace {

std::string consolidatable(World& world) {
    const auto pool = world.pool();
    const auto* condition = api::find_condition(pool.status.conditions, "Consolidatable");
    return condition ? std::string(to_string(condition->status)) : "";
}

}  // namespace

TEST_CASE("a node that is hardly used goes when its pods fit elsewhere, and they run again there") {
    World world({"a", "b"}, Launching::on, 4);
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b");
    world.put_running_pod("three", "b");
    world.live(3min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.place_of("one") == "b");
    CHECK(world.events.count("Node a Disrupting: Underutilized") == 1);
    CHECK(world.claims().size() == 1);
    CHECK(world.server.list<api::Node>().size() == 1);
}

// Between an eviction and the successor of the pod, no pod keeps the node.
TEST_CASE("a node that has become empty stays for the pods that were just evicted from another") {
    World world({"a", "b"}, Launching::on, 4);
    world.edit_pool([](auto& pool) {
        pool.spec.scaleDown.emptyGracePeriod = std::chrono::seconds(0);
        pool.spec.scaleDown.maxConcurrent = 2;
    });
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b");
    world.put_running_pod("three", "b");
    world.live(62s);
    REQUIRE(world.disrupted("a") == "True Underutilized");
    for (const auto* name : {"two", "three"}) {
        world.replicas.erase(name);
        world.server.remove<api::Pod>({"default", name}, 0);
    }
    world.live(20s);
    CHECK_FALSE(world.find("a"));
    CHECK(world.place_of("one") == "b");
    CHECK(world.events.count("Node b Disrupting") == 0);
}

TEST_CASE("an empty node goes in place of one whose pods would have to move to it") {
    World world({"a", "b", "c"}, Launching::on, 4);
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b", "3500m");
    world.put_running_pod("guest", "c", "2500m");
    world.live(40s);
    world.replicas.erase("guest");
    world.server.remove<api::Pod>({"default", "guest"}, 0);
    world.live(3min);
    CHECK_FALSE(world.find("c"));
    CHECK(world.find("a"));
    CHECK(world.events.count("Node a Disrupting") == 0);
}

TEST_CASE("no pod moves to an empty node that has just become ready") {
    World world({"a", "b", "c"}, Launching::on, 4);
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b", "3500m");
    world.put_running_pod("guest", "c", "2500m");
    world.live(58s);
    world.server.edit<objects::NodeSmithClaim>({"default", "c"}, [&](auto& claim) {
        for (auto& condition : claim.status.conditions)
            condition.lastTransitionTime = api::Time(world.clock.wall_now());
    });
    world.replicas.erase("guest");
    world.server.remove<api::Pod>({"default", "guest"}, 0);
    world.live(3min);
    CHECK_FALSE(world.find("c"));
    CHECK(world.events.count("Node a Disrupting") == 0);
}

TEST_CASE("a node stays when its pods fit nowhere else, which is said once") {
    World world({"a", "b"}, Launching::on, 4);
    world.put_running_pod("one", "a");
    world.put_running_pod("big", "b", "3500m");
    world.edit_pool([](auto& pool) { pool.spec.limits.maxNodes = 2; });
    world.live(20min);
    CHECK(world.find("a"));
    CHECK(world.events.count("Node a DisruptionBlocked: Underutilized") == 1);
    const auto writes = world.writes();
    world.live(60min);
    CHECK(world.writes() == writes);
}

TEST_CASE("headroom keeps a node that is hardly used") {
    World world({"a", "b"}, Launching::on, 4);
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b", "2500m");
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.headroomPercent = 20; });
    world.live(10min);
    CHECK(world.find("a"));
    CHECK(world.events.count("pool small would drop below its 20 % headroom") == 1);
}

TEST_CASE("a node is kept if its pods would use up a spare node, which would then be launched again") {
    World world({"a", "b", "c"}, Launching::on, 4);
    world.edit_pool([](auto& pool) { pool.spec.scaleUp.headroom.nodes = 1; });
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b", "2500m");
    world.live(60min);
    CHECK(world.find("a"));
    CHECK(world.find("c"));
    CHECK(world.place_of("one") == "a");
    CHECK(world.claims().size() == 3);
    CHECK(world.events.count("Node a Disrupting") == 0);
}

TEST_CASE("a smaller machine is launched first if that saves enough") {
    World world({"a"}, Launching::on, 16);
    world.put_running_pod("one", "a", "2");
    world.live(62s);
    CHECK(world.disrupted("a") == "True Underutilized");
    world.live(4min);
    CHECK_FALSE(world.find("a"));
    REQUIRE(world.claims().size() == 1);
    CHECK(world.claims()[0].spec.requirements.cpuCores < 4);
    CHECK(world.place_of("one") == world.claims()[0].metadata.name);
    // Nothing moves after that.
    world.live(60min);
    CHECK(world.events.count("Disrupting") == 1);
}

TEST_CASE("several small machines are launched first if the pool has no size in between") {
    World world({"a"}, Launching::on, 16);
    world.edit_pool([](auto& pool) { pool.spec.machineTemplate.sizes = {{"s", 4, 8192}, {"l", 16, 32768}}; });
    for (const auto* pod : {"one", "two"}) world.put_running_pod(pod, "a", "2600m");
    world.live(62s);
    CHECK(world.disrupted("a") == "True Underutilized");
    CHECK(world.events.count("2 cheaper machines take the pods of 1 node") == 1);
    world.live(6min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.claims().size() == 2);
    CHECK(world.longest_wait <= 2min);
    world.live(60min);
    CHECK(world.events.count("Disrupting") == 1);
    CHECK(world.claims().size() == 2);
}

TEST_CASE(
    "where no host turns out to have room for machines instead, nodes are hardly ever taken out of service "
    "for them") {
    World world({"a", "b", "c"}, Launching::on, 16);
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.priceThresholdPercent = 75; });
    auto& host = world.cloud.hosts["host-a"];
    host.cpu_cores = host.memory_mib = 0;
    for (const auto* node : {"a", "b", "c"}) world.put_running_pod(std::string("on-") + node, node, "9");
    world.live(24h, 5s);
    CHECK(world.claims().size() == 3);
    const auto tried = world.events.count("Disrupting");
    CHECK(tried >= 2);
    CHECK(tried <= 12);
    CHECK(world.events.count("RemovalUndone") == tried);
    host.cpu_cores = 64;
    host.memory_mib = 256 * 1024;
    world.live(24h, 5s);
    for (const auto* node : {"a", "b", "c"}) CHECK_FALSE(world.find(node));
    CHECK(world.claims().size() == 3);
}

TEST_CASE("a node in use is replaced by a cheaper machine where the pool looks at prices") {
    World world({"a", "b", "c"}, Launching::on, 16);
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.priceThresholdPercent = 75; });
    for (const auto* node : {"a", "b", "c"}) world.put_running_pod(std::string("on-") + node, node, "9");
    world.live(62s);
    CHECK(world.events.count(
              "the requests of its pods have been worth less than 75 % of the node's price since") == 1);
    world.live(30min);
    for (const auto* node : {"a", "b", "c"}) CHECK_FALSE(world.find(node));
    CHECK(world.claims().size() == 3);
    CHECK(world.events.count("Disrupting") == 3);
    CHECK(world.longest_wait <= 2min);
    world.live(24h, 5s);
    CHECK(world.events.count("Disrupting") == 3);
}

// Found by the simulation: the pods that were to go elsewhere took the place on the new machine.
TEST_CASE("no replacement is launched that would hold only some of the pods") {
    World world({"a", "b"}, Launching::on, 16);
    world.put_running_pod("own", "b", "14");
    world.put_running_pod("small", "a", "1");
    world.put_running_pod("large", "a", "4");
    world.live(30min);
    CHECK(world.place_of("large") == "a");
    CHECK(world.claims().size() == 2);
    CHECK(world.events.count("Disrupting") == 0);
}

TEST_CASE(
    "the disruption waits for the machine that was launched for a node's pods, even if no other may be "
    "launched") {
    World world({"a"}, Launching::on, 16);
    world.put_running_pod("one", "a", "2");
    world.edit_pool([](auto& pool) { pool.spec.scaleUp.maxConcurrent = 1; });
    world.machines_join = false;
    world.live(5min);
    CHECK(world.disrupted("a") == "True Underutilized");
    CHECK(world.claims().size() == 2);
    world.machines_join = true;
    world.live(4min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.claims().size() == 1);
    CHECK(world.events.count("RemovalUndone") == 0);
}

TEST_CASE("several nodes go together where one machine serves for all of them") {
    World world({"a", "b", "c"}, Launching::on, 8);
    world.edit_pool([](auto& pool) {
        pool.spec.scaleDown.maxConcurrent = 3;
        pool.spec.machineTemplate.sizes = {{"s", 4, 8192}, {"m", 8, 16384}};
    });
    for (const auto* node : {"a", "b", "c"}) world.put_running_pod(std::string("on-") + node, node, "2600m");
    world.live(10min);
    CHECK(world.claims().size() == 1);
    world.live(60min);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("pods that must not share a node keep the nodes that are left for them") {
    World world({"a", "b"}, Launching::on, 4);
    for (const auto* node : {"a", "b"}) {
        const auto pod = std::string("on-") + node;
        world.put_running_pod(pod, node);
        world.server.edit<api::Pod>({"default", pod}, [](api::Pod& choosy) {
            api::PodAffinityTerm apart;
            apart.labelSelector.emplace().matchLabels = {{"app", "web"}};
            apart.topologyKey = "kubernetes.io/hostname";
            auto& anti = choosy.spec.affinity.emplace().podAntiAffinity.emplace();
            anti.requiredDuringSchedulingIgnoredDuringExecution.push_back(apart);
        });
    }
    world.edit_pool([](auto& pool) { pool.spec.limits.maxNodes = 2; });
    world.live(20min);
    CHECK(world.claims().size() == 2);
    CHECK(world.events.count("Disrupting") == 0);
    CHECK(world.events.count("DisruptionBlocked: Underutilized, but the node stays: pod default/on-") == 2);
}

// ---- nodes that are in use

TEST_CASE("what a pool needs is the sum of its pods, with headroom, in the nodes that stay") {
    const NodeUse half{{2000, 2000}, {4000, 4000}};
    PoolUse pool;
    CHECK_FALSE(pool.fits_on_fewer(0));
    pool.add(half, true);
    pool.add(half, true);
    CHECK(pool.fits_on_fewer(0));
    CHECK_FALSE(pool.fits_on_fewer(1));
    pool.add(half, true);
    CHECK(pool.fits_on_fewer(25));
    CHECK_FALSE(pool.fits_on_fewer(26));
    pool.add(half, false);
    CHECK(pool.fits(33));
    CHECK_FALSE(pool.fits(34));
    CHECK(pool.fits_on_fewer(0));
    CHECK_FALSE(pool.fits_on_fewer(1));
    SECTION("the scarcer resource decides") {
        pool.add({{0, 1}, {0, 0}}, false);
        CHECK_FALSE(pool.fits_on_fewer(0));
    }
    SECTION("the smallest node is the first that could go") {
        pool.add({{1000, 1000}, {1000, 1000}}, true);
        CHECK(pool.fits_on_fewer(25));
        CHECK_FALSE(pool.fits_on_fewer(26));
    }
}

TEST_CASE("a node above the threshold goes when the pods of the pool fit on fewer nodes") {
    World world({"a", "b"}, Launching::on, 4);
    for (const auto* pod : {"one", "two"}) world.put_running_pod(pod, "a");
    for (const auto* pod : {"three", "four"}) world.put_running_pod(pod, "b");
    world.live(59s);
    CHECK(consolidatable(world) == "True");
    CHECK(world.disrupted("a").empty());
    world.live(3min);
    CHECK(world.claims().size() == 1);
    CHECK(world.longest_wait <= 2min);
    CHECK(world.events.count("Created: a machine") == 0);
    CHECK(world.events.count("Disrupting: Underutilized: the pods of the pool need fewer nodes") == 1);
    CHECK(consolidatable(world) == "False");
    world.live(60min);
    CHECK(world.claims().size() == 1);
}

// Otherwise the node would be taken out of service and put back every five minutes.
TEST_CASE(
    "a node stays whose pool would have to do with too little, though it could do without a smaller one") {
    World world({"a", "b", "large"}, Launching::off, 4);
    world.server.edit<api::Node>({"", "large"}, [](api::Node& node) {
        node.status.capacity["cpu"] = node.status.allocatable["cpu"] = api::Quantity::of(8);
    });
    world.server.put(objects::node("elsewhere", true, "4", "16Gi"));
    world.put_running_pod("one", "a", "3");
    world.put_running_pod("two", "b", "3");
    world.put_running_pod("three", "large", "2");
    world.put_running_pod("four", "large", "2");
    world.live(30min);
    CHECK(world.find("large"));
    CHECK(world.events.count("RemovalUndone") == 0);
}

// The pool can spare each of two nodes, but not both. Their pods have room on a node of no pool, so both
// would be taken out of service and put back every five minutes.
TEST_CASE("no more nodes above the threshold go together than the pool has to spare") {
    World world({"a", "b", "c"}, Launching::off, 4);
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 2; });
    world.server.put(objects::node("elsewhere", true, "8", "32Gi"));
    for (const auto* node : {"a", "b", "c"}) world.put_running_pod(std::string("on-") + node, node, "2");
    world.live(30min);
    CHECK(world.claims().size() == 1);
    CHECK(world.events.count("RemovalUndone") == 0);
}

TEST_CASE("nodes above the threshold stay while headroomPercent needs them, and nothing is said") {
    World world({"a", "b"}, Launching::on, 4);
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.headroomPercent = 20; });
    world.put_running_pod("one", "a", "2");
    world.put_running_pod("two", "b", "2");
    world.live(20min);
    CHECK(world.claims().size() == 2);
    CHECK(consolidatable(world).empty());
    CHECK(world.events.lines.empty());
}

TEST_CASE("a pool that needs its nodes from time to time keeps them") {
    World world({"a", "b"}, Launching::on, 4);
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.unneededDuration = 10min; });
    for (const auto* pod : {"one", "two"}) world.put_running_pod(pod, "a");
    for (const auto* pod : {"three", "four"}) world.put_running_pod(pod, "b");
    for (int i = 0; i < 5; ++i) {
        world.live(9min);
        world.put_running_pod("five", "b");
        world.live(10s);
        CHECK(consolidatable(world) == "False");
        world.replicas.erase("five");
        world.server.remove<api::Pod>({"default", "five"}, 0);
    }
    CHECK(world.claims().size() == 2);
    world.live(13min);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("no replacement is launched for a node that is in use") {
    World world({"a", "b", "c"}, Launching::on, 16);
    for (const auto* node : {"a", "b", "c"}) world.put_running_pod(std::string("on-") + node, node, "9");
    world.live(20min);
    CHECK(consolidatable(world) == "True");
    CHECK(world.claims().size() == 3);
    CHECK(world.events.lines.empty());
    CHECK(world.disruption.stays().at("a").blocker.reason == "Needed");
}

TEST_CASE("a machine that would be kept is not given up to save it, which is said") {
    World world({"a", "b"}, Launching::on, 4);
    for (const auto* node : {"a", "b"}) {
        world.put_running_pod(std::string("on-") + node, node);
        world.server.edit<objects::NodeSmithClaim>({"default", node}, [](auto& claim) {
            claim.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain;
        });
    }
    world.live(20min);
    CHECK(world.claims().size() == 2);
    CHECK(world.events.count("deletionPolicy: Retain") == 2);
}

// One of the pods was meant for the joining node. It would take the other's place on the machine that is
// launched.
TEST_CASE("no replacement is launched while a node joins that could take some of the pods") {
    World world({"a", "young"}, Launching::on, 16);
    world.machines_join = false;
    world.server.edit<api::Node>({"", "young"}, [](api::Node& node) {
        node.status.capacity["cpu"] = node.status.allocatable["cpu"] = api::Quantity::of(2);
        node.spec.taints = {{"example.com/starting", "", "NoSchedule", {}}};
    });
    world.server.edit<objects::NodeSmithClaim>({"default", "young"}, [](objects::NodeSmithClaim& claim) {
        claim.spec.startupTaints = {{"example.com/starting", "", "NoSchedule", {}}};
        claim.spec.requirements.cpuCores = 2;
        std::erase_if(claim.status.conditions, [](const api::Condition& condition) {
            return condition.type == "Initialized" || condition.type == "Ready";
        });
    });
    world.put_running_pod("one", "a", "2");
    world.put_running_pod("two", "a", "2");
    world.live(10min);
    CHECK(world.disrupted("a").empty());
    CHECK(world.claims().size() == 2);
    CHECK(world.events.count("a node that is being created could take some of its pods") == 1);
}

// One of two pods would get a machine that stays unused, because the other pod cannot have one.
TEST_CASE("no replacement is launched for pods for which launches are paused") {
    World world({"a", "b", "c"}, Launching::on, 16);
    world.put_running_pod("one", "a", "2");
    world.put_running_pod("two", "a", "2");
    for (const auto* full : {"b", "c"}) world.put_running_pod(std::string("of-") + full, full, "15");
    const auto uid = world.server.get<api::Pod>({"default", "one"})->metadata.uid;
    for (const auto* name : {"a", "b", "c"})
        world.server.edit<objects::NodeSmithClaim>({"default", name}, [&](objects::NodeSmithClaim& claim) {
            claim.metadata.annotations[std::string(api::annotations::kLaunchedFor)] = uid;
        });
    world.live(50min);
    CHECK(world.disrupted("a").empty());
    CHECK(world.claims().size() == 3);
    world.live(20min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.claims().size() == 3);
}
