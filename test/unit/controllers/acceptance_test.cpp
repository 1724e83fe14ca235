// Tests objects that this version does not understand. The operator leaves an object of a newer version, or
// an odd one, alone.
#include "controllers/state/acceptance.hpp"

#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/services/drain.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
namespace json = boost::json;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

// Sets a field as an API server stores it whose CRDs know more values than this operator.
template <api::Kind T>
void set_spec(World& world, const api::ObjectKey& key, const std::string& field, const json::value& value) {
    world.server.store().update(world.server.key<T>(key), [&](json::object& object) {
        object["spec"].get_object()[field] = value;
        auto& generation = object["metadata"].get_object()["generation"];
        generation = generation.is_int64() ? generation.get_int64() + 1 : 1;
    });
}

TEST_CASE("why an object is not understood names field and value of its spec only") {
    api::ObjectMeta metadata;
    CHECK(controllers::is_understood(metadata));
    metadata.unknownValues = {{"/status/phase", "Dreaming"}};
    CHECK(controllers::is_understood(metadata));
    metadata.unknownValues = {{"/spec/disruption/drift", "Rebase"}, {"/spec/deletionPolicy", "Hibernate"}};
    const auto why = controllers::why_not_understood(metadata);
    CHECK_THAT(why, Catch::StartsWith("spec.disruption.drift has the value \"Rebase\", spec.deletionPolicy "
                                      "has the value \"Hibernate\", which this version"));
    api::Conditions all;
    controllers::conclude_acceptance(all, metadata, {});
    CHECK(api::find_condition(all, conditions::kAccepted)->message == why);
    CHECK(api::is_false(all, conditions::kReady));
    CHECK(api::is_true(all, conditions::kStalled));
    controllers::conclude_acceptance(all, {}, {});
    CHECK_FALSE(api::find_condition(all, conditions::kAccepted));
}

TEST_CASE("the machine of a claim with a value of a newer version is left alone, and others go on") {
    World world;
    Process process(world);
    world.launch("c");
    REQUIRE(world.run_until([&] { return world.ready("c"); }));
    set_spec<NodeSmithClaim>(world, kClaim, "deletionPolicy", "Hibernate");
    world.run(5s);
    const auto* accepted = world.condition(conditions::kAccepted);
    REQUIRE(accepted);
    CHECK(accepted->reason == "UnknownValue");
    CHECK_THAT(accepted->message, Catch::Contains("spec.deletionPolicy has the value \"Hibernate\""));
    CHECK(world.claim()->status.observedGeneration == world.claim()->metadata.generation);
    world.launch("d");
    REQUIRE(world.run_until([&] { return world.ready("d"); }));

    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(1h);
    CHECK(world.claim("c"));
    CHECK(world.cloud.machines.size() == 2);
    set_spec<NodeSmithClaim>(world, kClaim, "deletionPolicy", "Delete");
    CHECK(world.run_until([&] { return world.gone("c"); }));
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("a provider with a value of a newer version makes and removes nothing") {
    World world;
    Process process(world);
    world.launch("c");
    REQUIRE(world.run_until([&] { return world.ready("c"); }));
    set_spec<NodeSmithProvider>(world, {"default", "proxmox"}, "type", "vsphere");
    world.run(5s);
    world.server.remove<NodeSmithClaim>(kClaim);
    world.launch("d");
    world.run(1h);
    CHECK(world.cloud.machines.size() == 1);
    set_spec<NodeSmithProvider>(world, {"default", "proxmox"}, "type", "proxmox");
    CHECK(world.run_until([&] { return world.gone("c") && world.ready("d"); }));
}

TEST_CASE("a claim that becomes odd keeps its machine, whatever else is asked for") {
    World world;
    Process process(world);
    world.launch("c");
    REQUIRE(world.run_until([&] { return world.ready("c"); }));
    set_spec<NodeSmithClaim>(world, kClaim, "labels", 7);
    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(1h);
    CHECK(world.cloud.machines.size() == 1);
    set_spec<NodeSmithClaim>(world, kClaim, "labels", json::object());
    CHECK(world.run_until([&] { return world.gone("c"); }));
}

TEST_CASE("the machine of a claim that can never be decoded is no orphan") {
    World world;
    world.launch("c");
    {
        Process process(world);
        REQUIRE(world.run_until([&] { return world.ready("c"); }));
    }
    set_spec<NodeSmithClaim>(world, kClaim, "labels", 7);
    // The Node is away for a while, so that only the claim shows that the machine is in use.
    world.server.remove<api::Node>({"", "c"}, 0);
    world.machines_join = false;
    Process successor(world);
    world.run(2h);
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("a pool that a new leader cannot decode is not gone: its claims wait, say so, and go on") {
    World world;
    world.machines_join = false;
    world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
        pool.spec.scaleUp.maxLaunchAttempts = 1;
        pool.spec.scaleUp.registrationTimeout = api::Duration(24h);
    });
    world.launch("c");
    {
        Process process(world);
        REQUIRE(world.run_until([&] { return !world.cloud.machines.empty(); }));
        world.run(1min);
    }
    set_spec<NodeSmithPool>(world, {"default", "p"}, "limits", 7);
    Process successor(world);
    world.run(2h);
    CHECK(world.cloud.machines.size() == 1);
    const auto* registered = world.condition(conditions::kRegistered);
    REQUIRE(registered);
    CHECK_THAT(registered->message, Catch::StartsWith("pool p cannot be decoded"));
    set_spec<NodeSmithPool>(world, {"default", "p"}, "limits", json::object());
    world.run(2min);
    CHECK_THAT(world.condition(conditions::kRegistered)->message, !Catch::Contains("cannot be decoded"));
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("nothing that is not understood is disrupted") {
    const auto blocked = [](api::ObjectMeta& metadata, const auto& judge) {
        CHECK_FALSE(judge());
        metadata.isOutdated = true;
        REQUIRE(judge());
        CHECK(judge()->reason == "UnknownValue");
        metadata.isOutdated = false;
    };
    NodeSmithPool pool;
    api::v1alpha1::NodeSmithControlPlane manager;
    controllers::disruption::PoolFacts facts{pool};
    facts.manager = &manager;
    const auto standing = [&] { return controllers::disruption::standing_blocker(facts); };
    blocked(pool.metadata, standing);
    blocked(manager.metadata, standing);
    facts.stale_kinds = "pods";
    REQUIRE(standing());
    CHECK(standing()->reason == "CacheStale");
}

TEST_CASE("a pod that cannot be decoded counts as one that still runs") {
    World world;
    api::Pod pod;
    pod.metadata.namespace_ = "default";
    pod.metadata.name = "odd";
    pod.spec.nodeName = "n";
    pod.status.phase = api::PodPhase::Succeeded;
    world.server.put(pod);
    set_spec<api::Pod>(world, {"default", "odd"}, "containers", 7);
    base::MetricsRegistry metrics;
    kube::Client client(world.server.connect(), world.clock, metrics);
    const auto pods = test::run(world.context, world.clock, controllers::live_pods(client, "n"));
    REQUIRE(pods.size() == 1);
    CHECK(controllers::is_drainable(*pods.front()));
}

}  // namespace
