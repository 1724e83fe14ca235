// Tests pods of StatefulSets, of which two must never run. The Node object keeps the second one from
// starting.
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

// Puts a database that runs on the Node "c".
void put_database(World& world) {
    api::Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.name = "db-0";
    pod.metadata.ownerReferences = {{"apps/v1", "StatefulSet", "db", "uid-of-db", true, true}};
    pod.spec.nodeName = "c";
    pod.spec.terminationGracePeriodSeconds = 10;
    pod.status.phase = api::PodPhase::Running;
    world.server.put(pod);
}

void lose_host(World& world) {
    // The kubelet is gone as well, so no pod on it ends.
    world.server.options().pods_end_after.reset();
    world.cloud.hosts["host-a"].reachable = false;
    world.server.edit<api::Node>({"", "c"}, [&](api::Node& node) {
        objects::set_condition(node.status.conditions, "Ready", api::ConditionStatus::Unknown,
                               api::Time(world.clock.wall_now()));
    });
}

bool has_node(World& world) {
    return world.server.get<api::Node>({"", "c"}).has_value();
}

}  // namespace

TEST_CASE("the Node under a StatefulSet's pod goes only after its machine was verified off") {
    World world;
    Process process(world);
    world.launch();
    world.server.edit<NodeSmithClaim>(
        kClaim, [](auto& claim) { claim.spec.terminationGracePeriod = api::Duration(1min); });
    REQUIRE(world.run_until([&] { return world.ready(); }));
    put_database(world);
    lose_host(world);
    const auto uid = world.server.get<api::Pod>({"default", "db-0"})->metadata.uid;

    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(2h);
    // Long after the deadline of the drain, it is still unknown whether the machine runs.
    CHECK(world.reason(conditions::kMachineDeleted) == "HostUnreachable");
    CHECK(has_node(world));
    const auto pod = world.server.get<api::Pod>({"default", "db-0"});
    REQUIRE(pod);
    CHECK(pod->metadata.uid == uid);

    int gone = 0;
    world.cloud.on_gone = [&](const fake::CloudMachine&) {
        ++gone;
        CHECK(has_node(world));
        CHECK(world.server.get<api::Pod>({"default", "db-0"}));
    };
    world.cloud.hosts["host-a"].reachable = true;
    REQUIRE(world.run_until([&] { return !has_node(world); }));
    CHECK(gone == 1);
}
