// Tests claims and the limits of their pool, with the reconciler against a cluster and a cloud in memory.
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

TEST_CASE("a claim that a user made waits for room within the limits") {
    World world;
    world.server.edit<NodeSmithPool>({"default", "p"},
                                     [](NodeSmithPool& pool) { pool.spec.limits.maxNodes = 1; });
    Process process(world);
    world.launch("first");
    REQUIRE(world.run_until([&] { return world.ready("first"); }));
    auto claim = objects::claim("c", *world.server.get<NodeSmithPool>({"default", "p"}));
    claim.metadata.uid.clear();
    world.server.put(claim);
    world.run(2min);
    CHECK(world.reason(conditions::kLaunched) == "LimitExceeded");
    CHECK(world.cloud.machines.size() == 1);
    world.server.edit<NodeSmithPool>({"default", "p"},
                                     [](NodeSmithPool& pool) { pool.spec.limits.maxNodes = 2; });
    CHECK(world.run_until([&] { return world.ready(); }, 1min));
}

TEST_CASE("a limit that was lowered takes back claims without a machine, the younger ones first") {
    World world;
    world.launch("c");
    world.run(1s);
    world.launch("d");
    for (int i = 0; i < 100; ++i) world.cloud.next_ensure.push_back(providers::InsufficientCapacity{"full"});
    Process process(world);
    world.run(5s);
    world.server.edit<NodeSmithPool>({"default", "p"},
                                     [](NodeSmithPool& pool) { pool.spec.limits.maxNodes = 1; });
    world.run(1s);
    world.cloud.next_ensure.clear();
    REQUIRE(world.run_until([&] { return world.ready("c"); }, 5min));
    world.run(5min);
    CHECK(world.cloud.created() == 1);
    CHECK(world.gone("d"));
}

// Solve and placement must agree about the room; otherwise the solve sees room where the placement sees none.
TEST_CASE("the machine of a failed claim, verified gone, takes no room from others") {
    World world;
    Process process(world);
    providers::Machine placed;
    placed.record = {"pve1", "101", ""};
    world.cloud.next_ensure = {placed, providers::AttemptFailed{"StartFailed", "no disk", false}};
    world.server.edit<NodeSmithPool>({"default", "p"},
                                     [](NodeSmithPool& pool) { pool.spec.scaleUp.maxLaunchAttempts = 1; });
    world.launch("c");
    REQUIRE(world.run_until([&] {
        const auto* deleted = world.condition(conditions::kMachineDeleted);
        return deleted && deleted->status == api::ConditionStatus::True;
    }));
    world.launch("d");
    REQUIRE(world.run_until([&] { return world.ready("d"); }));
    CHECK(world.cloud.reservations.empty());
}

}  // namespace
