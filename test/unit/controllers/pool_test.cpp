// Tests the Pool reconciler against an API server in memory.
#include "controllers/pool_reconciler.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithClaim;
using objects::NodeSmithPool;

namespace {

struct World : test::Cluster {
    controllers::PoolReconciler pools{{informers, client, clock, events, metrics}, reservations};

    World() {
        put_basics();
        server.put(objects::pool("small"));
        add("pool", pools);
        start();
        run_for(1s);
    }
    ~World() { stop(); }

    void put_claim(const std::string& name, std::int64_t sequence) {
        auto claim = objects::created_claim(name, pool(), sequence);
        claim.metadata.finalizers = {std::string(api::finalizers::kClaim)};
        server.put(claim);
    }
};

}  // namespace

TEST_CASE("a pool gets its finalizer before anything can be launched for it") {
    World world;
    CHECK(api::has_finalizer(world.pool().metadata, api::finalizers::kPool));
}

TEST_CASE("a pool says when its addresses or its creations of an hour are used up, and when no longer") {
    World world;
    const auto available = [&world] {
        return api::find_condition(world.pool().status.conditions, "Available")->reason;
    };
    SECTION("addresses") {
        world.server.edit<NodeSmithPool>({"default", "small"}, [](NodeSmithPool& pool) {
            auto& network = pool.spec.machineTemplate.network.emplace();
            network.mode = api::v1alpha1::NetworkMode::Static;
            network.addresses = {"10.0.4.2"};
            network.gateway = "10.0.4.1";
        });
        world.put_claim("a", 1);
        world.run_for(5s);
        CHECK(available() == "Available");
        world.server.edit<NodeSmithPool>({"default", "small"}, [](NodeSmithPool& pool) {
            pool.status.addresses = {{"10.0.4.2", "a", "net0"}};
        });
        world.run_for(5s);
        CHECK(available() == "AddressesExhausted");
        world.server.edit<NodeSmithClaim>({"default", "a"},
                                          [](auto& claim) { claim.metadata.finalizers->clear(); });
        world.server.remove<NodeSmithClaim>({"default", "a"});
        world.run_for(2min);
        CHECK(available() == "Available");
    }
    SECTION("creations") {
        world.server.edit<objects::NodeSmithControlPlane>(
            {"default", "main"}, [](auto& plane) { plane.spec.rateLimits.maxCreationsPerHour = 1; });
        world.put_claim("a", 1);
        world.run_for(5s);
        CHECK(available() == "RateLimited");
        world.run_for(62min);
        CHECK(available() == "Available");
    }
}

TEST_CASE("R2: a deleted pool deletes its claims and stays until the last one is gone") {
    World world;
    world.put_claim("a", 1);
    world.put_claim("b", 2);
    world.run_for(1s);
    world.server.remove<NodeSmithPool>({"default", "small"});
    world.run_for(1s);
    CHECK(world.claims().size() == 2);
    for (const auto& claim : world.claims()) CHECK(claim.metadata.deletionTimestamp);
    world.run_for(1h);
    CHECK(api::is_false(world.pool().status.conditions, "Ready"));
    CHECK(world.pool().status.claims.deleting == 2);

    world.server.edit<NodeSmithClaim>({"default", "a"},
                                      [](auto& claim) { claim.metadata.finalizers->clear(); });
    world.run_for(1h);
    CHECK(world.server.get<NodeSmithPool>({"default", "small"}));
    world.server.edit<NodeSmithClaim>({"default", "b"},
                                      [](auto& claim) { claim.metadata.finalizers->clear(); });
    world.run_for(5s);
    CHECK_FALSE(world.server.get<NodeSmithPool>({"default", "small"}));
}

TEST_CASE(
    "a webhook that hangs for some claims of a deleted pool delays neither the others nor other pools") {
    World world;
    for (int i = 1; i <= 40; ++i) world.put_claim((i <= 20 ? "a-slow-" : "quick-") + std::to_string(i), i);
    world.run_for(1s);
    world.requests.slowness = [](const base::HttpRequest& request) {
        const bool is_slow =
            request.method == "DELETE" && request.target.find("/a-slow-") != std::string::npos;
        return is_slow ? base::Duration(60s) : base::Duration::zero();
    };
    world.server.remove<NodeSmithPool>({"default", "small"});
    const auto deleted = [&world] {
        return std::ranges::count_if(
            world.claims(), [](const auto& claim) { return claim.metadata.deletionTimestamp.has_value(); });
    };
    world.run_for(95s);
    CHECK(deleted() == 20);
    const auto pool = world.pool();
    const auto* ready = api::find_condition(pool.status.conditions, "Ready");
    REQUIRE(ready);
    CHECK(ready->message.find("cannot be deleted: the API server has not answered within 30 s: an admission "
                              "webhook may hang") != std::string::npos);
    CHECK(world.events.count("RequestRefused") >= 1);
    world.requests.slowness = nullptr;
    world.run_for(2min);
    CHECK(deleted() == 40);
}

TEST_CASE("a pool that was reserved from stays until no claim can come of it any more") {
    World world;
    auto pool = world.pool();
    pool.status.reserved.nodes = 1;
    pool.status.reserved.time = api::Time(world.clock.wall_now());
    world.server.put(pool);
    world.server.remove<NodeSmithPool>({"default", "small"});
    world.run_for(59s);
    CHECK(world.server.get<NodeSmithPool>({"default", "small"}));
    world.run_for(10s);
    CHECK_FALSE(world.server.get<NodeSmithPool>({"default", "small"}));
}

TEST_CASE("what a gone claim had reserved is given back") {
    World world;
    world.put_claim("a", 1);
    world.put_claim("b", 2);
    world.run_for(2s);
    CHECK(world.pool().status.reserved.nodes == 2);
    CHECK(world.pool().status.reserved.cpuCores == 4);
    world.server.edit<NodeSmithClaim>({"default", "a"},
                                      [](auto& claim) { claim.metadata.finalizers->clear(); });
    world.server.remove<NodeSmithClaim>({"default", "a"});
    world.run_for(2s);
    CHECK(world.pool().status.reserved.nodes == 1);
}

TEST_CASE("what somebody else reserved is not given back before a minute has passed") {
    World world;
    auto pool = world.pool();
    pool.status.reserved = {3, 12, 24576, api::Time(world.clock.wall_now())};
    world.server.put(pool);
    world.run_for(60s);
    CHECK(world.pool().status.reserved.nodes == 3);
    world.run_for(5s);
    CHECK(world.pool().status.reserved.nodes == 0);
}

TEST_CASE("a pool's status follows its claims and is quiet when nothing changes") {
    World world;
    world.put_claim("a", 1);
    world.run_for(1s);
    CHECK(world.pool().status.pendingNodes == 1);
    world.join(world.claims()[0]);
    world.run_for(1s);
    CHECK(world.pool().status.readyNodes == 1);
    CHECK(world.pool().status.pendingNodes == 0);
    CHECK(world.pool().status.learnedReserved);
    const auto writes = world.writes();
    world.run_for(6h);
    CHECK(world.writes() == writes);
}

TEST_CASE("the younger of two pools with the same label value is told, and ready when the older is gone") {
    World world;
    world.run_for(10s);
    auto other = objects::pool("small", "other");
    other.metadata.creationTimestamp.reset();
    world.server.put(other);
    world.run_for(2s);
    const auto ready = [&world](const std::string& namespace_) {
        const auto pool = world.server.get<NodeSmithPool>({namespace_, "small"}).value();
        return api::find_condition(pool.status.conditions, "Ready")->reason;
    };
    CHECK(ready("other") == "LabelConflict");
    CHECK(ready("default") == "Ready");
    world.server.remove<NodeSmithPool>({"default", "small"});
    world.run_for(5s);
    CHECK(ready("other") != "LabelConflict");
}
