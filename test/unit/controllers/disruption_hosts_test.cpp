// Tests which node is removed first by its cost, and nodes on bare metal that a person wants to work on.
#include "api/v1alpha1/host.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using api::v1alpha1::NodeSmithHost;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;

TEST_CASE("of several empty nodes the largest leaves first") {
    World world({"a", "b", "c"});
    world.server.edit<api::Node>({"", "b"}, [](api::Node& node) {
        node.status.capacity["cpu"] = api::Quantity::of(64);
        node.status.capacity["memory"] = api::Quantity::of_mebibytes(262144);
    });
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 2; });
    world.live(5min);
    CHECK(world.find("a"));
    CHECK_FALSE(world.find("b"));
    CHECK(world.find("c"));
}

TEST_CASE("a host in use that goes into maintenance is drained of its node, whose pods run elsewhere") {
    World world({"a", "b"}, Launching::on, 4);
    NodeSmithHost host;
    host.metadata.namespace_ = "default";
    host.metadata.name = "r1u07";
    host.spec.providerRef = "proxmox";
    host.status.claimRef = api::v1alpha1::ClaimReference{"a", world.claim("a").metadata.uid};
    world.server.put(host);
    world.server.edit<objects::NodeSmithClaim>({"default", "a"},
                                               [](auto& claim) { claim.status.host = "r1u07"; });
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::Never; });
    world.put_running_pod("one", "a", "2500m");
    world.live(2min);
    REQUIRE(world.disrupted("a").empty());
    world.server.edit<NodeSmithHost>({"default", "r1u07"},
                                     [](NodeSmithHost& edited) { edited.spec.maintenance = true; });
    world.live(3min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.place_of("one") == "b");
    CHECK(world.events.count("Node a Disrupting: Evacuation") == 1);
}
