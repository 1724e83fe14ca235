// The kube-scheduler counts existing nodes as domains of hard spreads, including those that are being
// removed.
#include "controllers/provisioning/kinds.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithClaim;
using test::a_pod;
using World = test::ProvisioningWorld;

namespace {

api::Pod put_spread_pod(World& world, const std::string& name) {
    return world.put_pending(
        a_pod(name).requesting("100m", "1Gi").label("app", "web").spread_over("kubernetes.io/hostname"));
}

// Puts machines for "web-1" and "web-2", which are not bound yet.
void put_two_machines(World& world) {
    for (int i = 1; i <= 2; ++i) {
        world.put_pending(a_pod("web-" + std::to_string(i))
                              .requesting("500m", "1Gi")
                              .label("app", "web")
                              .label("pod-template-hash", std::to_string(i))
                              .host_port(8080));
    }
    world.run_for(5s);
    REQUIRE(world.claims().size() == 2);
    world.join_all();
}

void taint(World& world, const std::string& node) {
    world.server.edit<api::Node>({"", node}, [](api::Node& edited) {
        edited.spec.taints.push_back(
            {std::string(api::taints::kDisrupted), "", std::string(api::taints::kNoSchedule), {}});
    });
}

}  // namespace

// Otherwise a pod would wait for ever without any message.
TEST_CASE("the Node of a machine that cannot be removed counts in spreads as long as it is there") {
    World world;
    put_two_machines(world);
    const auto stuck = world.claims()[0].metadata.name;
    world.server.edit<NodeSmithClaim>(api::key_of(world.claims()[0]), [](NodeSmithClaim& claim) {
        objects::set_condition(claim.status.conditions, "Failed", api::ConditionStatus::True);
        objects::set_condition(claim.status.conditions, "MachineDeleted", api::ConditionStatus::False,
                               objects::kStart, "OwnershipMismatch");
    });
    taint(world, stuck);
    world.server.remove<api::Pod>({"default", "web-1"}, 0);
    world.server.edit<api::Pod>({"default", "web-2"},
                                [](api::Pod& pod) { pod.spec.containers->front().ports.clear(); });
    world.bind("web-2", world.claims()[1].metadata.name);
    put_spread_pod(world, "web-3");
    world.run_for(5s);
    CHECK(world.claims().size() == 3);
}

// Otherwise a node would be taken out of service and put back every half hour.
TEST_CASE("a replacement is launched for a node that is a domain of its pods' spread until it is gone") {
    World world(World::fixed_size_pool());
    for (const auto* name : {"web-1", "web-2"}) {
        auto pod = put_spread_pod(world, name);
        pod.metadata.ownerReferences = {{"apps/v1", "ReplicaSet", "web", "uid-of-web", true, {}}};
        pod.spec.topologySpreadConstraints->front().minDomains = 2;
        world.server.put(pod);
    }
    world.run_for(5s);
    REQUIRE(world.claims().size() == 2);
    world.join_all();
    for (std::size_t i = 0; i < 2; ++i)
        world.bind("web-" + std::to_string(i + 1), world.claims()[i].metadata.name);
    for (const auto* name : {"web-1", "web-2"})
        world.server.edit<api::Pod>({"default", name}, [](api::Pod& pod) {
            pod.spec.topologySpreadConstraints->front().minDomains.reset();
        });
    world.server.edit<NodeSmithClaim>(api::key_of(world.claims()[0]), [](NodeSmithClaim& claim) {
        objects::set_condition(claim.status.conditions, "Disrupted", api::ConditionStatus::True,
                               objects::kStart, "Underutilized");
    });
    world.run_for(30s);
    CHECK(world.claims().size() == 3);
}

// Otherwise a pod would wait without any message while a budget blocks a drain.
TEST_CASE("a node whose drain a budget holds for minutes counts in spreads, one that is drained does not") {
    World world(World::fixed_size_pool());
    put_two_machines(world);
    const auto leaving = world.claims()[0].metadata.name;
    const auto begin_drain = [&](api::Time since) {
        world.server.edit<NodeSmithClaim>({"default", leaving}, [since](NodeSmithClaim& claim) {
            objects::set_condition(claim.status.conditions, "Disrupted", api::ConditionStatus::True,
                                   objects::kStart, "Drifted");
            objects::set_condition(claim.status.conditions, "Drained", api::ConditionStatus::False, since,
                                   "BlockedByBudget");
        });
    };
    taint(world, leaving);
    world.server.remove<api::Pod>({"default", "web-1"}, 0);
    world.server.edit<api::Pod>({"default", "web-2"},
                                [](api::Pod& pod) { pod.spec.containers->front().ports.clear(); });
    world.bind("web-2", world.claims()[1].metadata.name);
    const api::Time now(world.clock.wall_now());
    SECTION("for a moment") {
        begin_drain(now);
        put_spread_pod(world, "web-3");
        world.run_for(5s);
        CHECK(world.claims().size() == 2);
    }
    SECTION("for minutes") {
        begin_drain(api::Time(now.at - 6min));
        put_spread_pod(world, "web-3");
        world.run_for(5s);
        CHECK(world.claims().size() == 3);
    }
}
