// Nodes are still repaired and removed while the API server refuses writes about other objects, and while a
// provider does not answer.
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;

namespace {

// Refuses writes of the claim's status that change the decision about its node.
auto refuse_decisions(const std::string& claim) {
    return [claim](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        const bool is_its = request.method == "PATCH" &&
                            request.target.find("/nodesmithclaims/" + claim + "/status") != std::string::npos;
        if (!is_its || request.body.find("\"Disrupted\"") == std::string::npos) return std::nullopt;
        return fake::status_response(422, "Invalid", "claim " + claim + " is frozen");
    };
}

}  // namespace

TEST_CASE("a decision that cannot be taken back keeps no other node of the pool from being repaired") {
    World world({"a", "b", "c"}, Launching::on, 4);
    for (const std::string node : {"a", "b", "c"}) world.put_running_pod("on-" + node, node, "2500m");
    world.machines_join = false;
    world.made_from("a", "3-another template");
    world.live(30s);
    REQUIRE(world.disrupted("a") == "True Drifted");
    world.requests.answer = refuse_decisions("a");
    world.edit_pool([](auto& pool) { pool.spec.disruption.drift = api::v1alpha1::DriftPolicy::Ignore; });
    world.set_ready("b", false);
    world.machines_join = true;
    world.live(20min);
    CHECK_FALSE(world.find("b"));
    CHECK(world.find("a"));
    CHECK(world.events.count("Node a RemovalRefused") == 1);
    CHECK(world.events.count("claim a is frozen") >= 1);
    world.requests.answer = nullptr;
    world.live(2min);
    CHECK(world.disrupted("a") == "False NoReason");
}

TEST_CASE("a node whose decision cannot be written leaves its turn to the others") {
    World world({"a", "b"});
    world.requests.answer = refuse_decisions("a");
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 1; });
    world.live(5min);
    CHECK(world.find("a"));
    CHECK_FALSE(world.find("b"));
}

TEST_CASE("a node whose decision is not written in time leaves its turn to the others") {
    World world({"a", "b"});
    world.requests.slowness = [refuses = refuse_decisions("a")](const base::HttpRequest& request) {
        return refuses(request) ? base::Duration(60s) : base::Duration::zero();
    };
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 1; });
    world.live(10min);
    CHECK(world.find("a"));
    CHECK_FALSE(world.find("b"));
    CHECK(world.events.count("an admission webhook may hang") >= 1);
}

TEST_CASE("many nodes whose decisions are not written in time hold up the others for one of them at a time") {
    const std::vector<std::string> slow{"a", "b", "c", "d"};
    World world({"a", "b", "c", "d", "e", "f"});
    world.requests.slowness = [slow](const base::HttpRequest& request) {
        const bool is_slow = std::ranges::any_of(
            slow, [&request](const auto& claim) { return refuse_decisions(claim)(request).has_value(); });
        return is_slow ? base::Duration(60s) : base::Duration::zero();
    };
    world.live(10min);
    for (const auto& name : slow) CHECK(world.find(name));
    CHECK_FALSE(world.find("e"));
    CHECK_FALSE(world.find("f"));
}

TEST_CASE("what is only noted in a pool's status is left out for minutes after it took long to write") {
    World world({"a", "b"}, World::Launching::off, 4);
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b");
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 2; });
    int notes = 0;
    world.requests.slowness = [&notes](const base::HttpRequest& request) {
        const bool is_note = request.target.find("/nodesmithpools/small/status") != std::string::npos &&
                             request.body.find("Consolidatable") != std::string::npos;
        notes += is_note ? 1 : 0;
        return is_note ? base::Duration(60s) : base::Duration::zero();
    };
    world.live(15min);
    CHECK(notes >= 1);
    CHECK(notes <= 4);
}

TEST_CASE("a provider that hangs holds up no decisions") {
    World world({"a", "b"});
    world.put_running_pod("one", "b");
    world.cloud.latency = 1h;
    world.set_ready("b", false);
    world.live(3min);
    CHECK(world.disrupted("a") == "True Empty");
}

TEST_CASE("a Node that finalizers of others keep after its machine is gone holds up no other removal") {
    World world({"a", "b"});
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.maxConcurrent = 1; });
    world.server.edit<api::Node>({"", "a"}, [](api::Node& node) {
        node.metadata.finalizers = {"wrangler.cattle.io/node"};
        node.metadata.annotations = api::StringMap{};
    });
    world.server.remove<objects::NodeSmithClaim>({"default", "a"});
    world.live(10min);
    CHECK(world.condition("a", "MachineDeleted") == "True NodeTerminating");
    CHECK_FALSE(world.find("b"));
}

TEST_CASE("machines that are gone raise no share of nodes that may be disrupted") {
    const std::vector<std::string> gone{"c", "d", "e", "f", "g", "h", "i"};
    World world({"a", "b", "c", "d", "e", "f", "g", "h", "i"});
    world.edit_pool([](auto& pool) {
        pool.spec.disruption.budgets.emplace_back().nodes = "30%";
        pool.spec.scaleDown.maxConcurrent = 9;
        pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::WhenEmpty;
    });
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b");
    for (const auto& name : gone) {
        world.server.edit<api::Node>({"", name}, [](api::Node& node) {
            node.metadata.finalizers = {"wrangler.cattle.io/node"};
            node.metadata.annotations = api::StringMap{};
        });
        world.server.remove<objects::NodeSmithClaim>({"default", name});
    }
    world.live(10min);
    for (const auto& name : gone) REQUIRE(world.condition(name, "MachineDeleted") == "True NodeTerminating");
    world.hold_machines();
    for (const auto* name : {"one", "two"}) {
        world.replicas.erase(name);
        world.server.remove<api::Pod>({"default", name}, 0);
    }
    world.live(70s);
    CHECK(world.is_leaving("a") != world.is_leaving("b"));
}
