// Tests how claims end if others took, keep or lost their Node, machine or host.
#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

void launch_retained(World& world) {
    world.launch();
    world.server.edit<NodeSmithClaim>(
        kClaim, [](auto& claim) { claim.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain; });
}

TEST_CASE("a claim whose Node somebody deleted is replaced") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.remove<api::Node>({"", "c"});
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.clean());
    CHECK(std::any_of(world.events.begin(), world.events.end(),
                      [](auto& e) { return e.starts_with("NodeDeleted:"); }));
}

TEST_CASE(
    "with deletionPolicy Retain machine and Node stay with their user, and nobody collects them later") {
    World world;
    Process process(world);
    launch_retained(world);
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    world.cloud.on_gone = nullptr;
    CHECK_FALSE(
        world.server.get<api::Node>({"", "c"})->metadata.labels->contains("kubenodesmith.io/nodeclaim"));
    world.server.remove<api::Node>({"", "c"});
    world.run(1h);
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("with deletionPolicy Retain a machine stays whose claim lost its status before it was deleted") {
    World world;
    {
        Process process(world);
        launch_retained(world);
        REQUIRE(world.run_until([&] { return world.ready(); }));
    }
    world.lose_status();
    world.server.remove<NodeSmithClaim>(kClaim);
    Process next(world);
    world.cloud.on_gone = nullptr;
    REQUIRE(world.run_until([&] { return world.gone(); }, 10min));
    CHECK(world.cloud.machines.size() == 1);
    CHECK(world.server.get<api::Node>({"", "c"}));
}

// A world with a machine in service under deletionPolicy Retain, whose Node somebody deletes while no
// operator runs. The kubelet does not register again.
struct NodeLost : World {
    NodeLost() {
        {
            Process process(*this);
            launch_retained(*this);
            REQUIRE(run_until([&] { return ready(); }));
        }
        server.remove<api::Node>({"", "c"});
        cloud.on_gone = nullptr;
    }
};

TEST_CASE(
    "with deletionPolicy Retain a machine stays whose claim lost its status and whose Node is deleted") {
    NodeLost world;
    world.lose_status();
    SECTION("and then the claim is deleted") {
        world.server.remove<NodeSmithClaim>(kClaim);
        Process next(world);
        REQUIRE(world.run_until([&] { return world.gone(); }, 10min));
    }
    SECTION("and the claim is deleted after its machine was found") {
        Process next(world);
        REQUIRE(world.run_until([&] { return world.condition(conditions::kStatusLost); }, 1min));
        world.server.remove<NodeSmithClaim>(kClaim);
        REQUIRE(world.run_until([&] { return world.gone(); }, 10min));
    }
    SECTION("and the machine does not join again") {
        Process next(world);
        REQUIRE(world.run_until([&] { return world.gone(); }, 2h));
    }
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("with deletionPolicy Retain a machine stays whose claim went back to an older status") {
    World world;
    Process process(world);
    launch_retained(world);
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    world.cloud.on_gone = nullptr;
    world.machines_join = false;
    world.server.remove<api::Node>({"", "c"});
    world.server.edit<NodeSmithClaim>(kClaim, [](auto& claim) {
        std::erase_if(claim.status.conditions,
                      [](const auto& condition) { return condition.type != conditions::kLaunched; });
        claim.status.nodeName.clear();
    });
    REQUIRE(world.run_until([&] { return world.condition(conditions::kStatusLost); }, 1min));
    SECTION("and is then deleted") {
        world.server.remove<NodeSmithClaim>(kClaim);
        REQUIRE(world.run_until([&] { return world.gone(); }, 10min));
    }
    SECTION("and waits for a person, who created it, after the machine did not join") {
        world.server.edit<NodeSmithClaim>(kClaim,
                                          [](auto& claim) { claim.metadata.ownerReferences.reset(); });
        const auto says = [&] {
            const auto* deleted = world.condition(conditions::kMachineDeleted);
            return deleted && deleted->message.find("did not join again") != std::string::npos;
        };
        REQUIRE(world.run_until(says, 2h));
        world.run(3h);
        CHECK(says());
        world.machines_join = true;
        world.kubelet_joins(world.cloud.machines.begin()->second);
        REQUIRE(world.run_until([&] { return world.ready(); }, 5min));
    }
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("a machine that joins again after its claim lost its status is like any other") {
    World world;
    {
        Process process(world);
        world.launch();
        REQUIRE(world.run_until([&] { return world.ready(); }));
    }
    world.lose_status();
    Process next(world);
    REQUIRE(world.run_until([&] { return world.ready(); }));
    CHECK_FALSE(world.condition(conditions::kStatusLost));
}

TEST_CASE("a machine that cannot be released is tried with growing pauses and nothing is written meanwhile") {
    struct Down : fake::ProviderCalls {
        void before(const std::string& method) override {
            if (method == "release") throw providers::ProviderError("the host is down");
        }
        void after(const std::string&) override {}
    };
    World world;
    {
        Down down;
        Process process(world, nullptr, &down);
        launch_retained(world);
        REQUIRE(world.run_until([&] { return world.ready(); }));
        world.server.remove<NodeSmithClaim>(kClaim);
        world.run(1min);
        CHECK(world.reason(conditions::kMachineDeleted) == "ProviderError");
        const auto writes = world.server.writes().size();
        world.run(1h);
        CHECK(world.server.writes().size() == writes);
    }
    Process next(world);
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
}

TEST_CASE("a Node that finalizers of others keep is deleted once, and its claim says what it waits for") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.edit<api::Node>(
        {"", "c"}, [](api::Node& node) { node.metadata.finalizers = {"wrangler.cattle.io/node"}; });
    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(10min);
    const auto& writes = world.server.writes();
    CHECK(std::ranges::count_if(writes, [](const auto& write) {
              return write.method == "DELETE" && write.target.starts_with("/api/v1/nodes/c");
          }) == 1);
    CHECK(world.cloud.machines.empty());
    const auto* deleted = world.condition(conditions::kMachineDeleted);
    REQUIRE(deleted);
    CHECK(deleted->status == api::ConditionStatus::True);
    CHECK(deleted->reason == "NodeTerminating");
    CHECK(deleted->message.find("wrangler.cattle.io/node") != std::string::npos);
    CHECK(world.reason(conditions::kReady) == "NodeTerminating");
    CHECK(std::ranges::count_if(
              world.events, [](const auto& event) { return event.starts_with("NodeTerminating:"); }) == 1);
    const auto count = writes.size();
    world.run(1h);
    CHECK(world.server.writes().size() == count);
    world.server.edit<api::Node>({"", "c"}, [](api::Node& node) { node.metadata.finalizers = {}; });
    CHECK(world.run_until([&] { return world.gone(); }, 1min));
}

TEST_CASE("a dead host keeps its claim until the user states that the machine is gone") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.cloud.hosts["host-a"].reachable = false;
    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(30min);
    CHECK(world.reason(conditions::kMachineDeleted) == "HostUnreachable");
    const auto writes = world.server.writes().size();
    world.run(30min);
    CHECK(world.server.writes().size() == writes);
    world.server.edit<api::Node>({"", "c"}, [](api::Node& node) {
        node.spec.taints.push_back(
            {"node.kubernetes.io/out-of-service", "nodeshutdown", "NoExecute", std::nullopt});
    });
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK_FALSE(world.server.get<api::Node>({"", "c"}));
}

}  // namespace
