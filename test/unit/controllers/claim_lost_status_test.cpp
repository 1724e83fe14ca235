// Tests claims whose status somebody replaced, or that a tool restored without it. The operator finds their
// machines again.
#include <set>

#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_world.hpp"

using namespace claims;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

namespace {

// Clears the status, as a restored backup without status does.
void lose_status(World& world) {
    world.server.edit<NodeSmithClaim>(kClaim, [](NodeSmithClaim& claim) { claim.status = {}; });
}

}  // namespace

TEST_CASE("a claim that lost its status takes its machine up again, and makes no second one") {
    World world;
    world.launch();
    auto process = std::make_unique<Process>(world);
    REQUIRE(world.run_until([&] { return world.ready(); }));
    SECTION("while it is as young as a new claim") {
        lose_status(world);
    }
    world.run(2min);
    const auto before = world.claim()->status;
    SECTION("while it serves") {
        lose_status(world);
    }
    SECTION("while the operator does not run") {
        process.reset();
        lose_status(world);
        process = std::make_unique<Process>(world);
    }
    SECTION("while its machine is not configured yet") {
        auto& machine = world.cloud.machines.begin()->second;
        machine.is_unfinished = true;
        lose_status(world);
        REQUIRE(world.run_until([&] { return !world.claim()->status.machineID.empty(); }, 1min));
        machine.is_unfinished = false;
    }
    REQUIRE(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.cloud.created() == 1);
    CHECK(world.claim()->status.machineID == before.machineID);
    CHECK(world.claim()->status.systemUUID == before.systemUUID);
    CHECK(world.claim()->status.nodeName == before.nodeName);
    CHECK(world.claim()->status.templateHash == before.templateHash);
    world.server.remove<NodeSmithClaim>(kClaim);
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}

namespace {

// Slow is a cloud whose machines take minutes to make, and show whose they are only then.
struct Slow : World {
    Slow() : World({.create_time = 4min}) { cloud.marks_late = true; }
    bool is_being_made() { return !cloud.machines.empty() && !claim()->status.machineID.empty(); }
    bool waits_for_half_made() {
        const auto* launched = condition(conditions::kLaunched);
        return launched && launched->reason == "MachineNotKnown" &&
               launched->message.find("which a task is still creating") != std::string::npos;
    }
};

}  // namespace

TEST_CASE("a claim that loses its status while its machine is made waits for it, and makes no second one") {
    Slow world;
    auto process = std::make_unique<Process>(world);
    world.run(2s);
    auto& host = world.cloud.hosts.begin()->second;
    const bool had_to_wait = GENERATE(false, true);
    host.usable = !had_to_wait;
    world.launch();
    if (had_to_wait) world.run(5s);
    const auto backup = world.server.store().back_up();
    host.usable = true;
    REQUIRE(world.run_until([&] { return world.is_being_made(); }, 1min));
    const auto uuid = world.claim()->status.systemUUID;
    SECTION("while the operator runs") {
        world.server.restore(backup);
        process->list_anew();
    }
    SECTION("while the operator runs, and somebody else took the status away") {
        lose_status(world);
    }
    SECTION("while the operator does not run") {
        process.reset();
        lose_status(world);
        process = std::make_unique<Process>(world);
    }
    REQUIRE(world.run_until([&] { return world.waits_for_half_made(); }, 30s));
    CHECK(world.run_until([&] { return world.ready(); }, 10min));
    CHECK(world.cloud.created() == 1);
    CHECK(world.claim()->status.systemUUID == uuid);
}

TEST_CASE("a claim that lost its status does not wait for a half-made machine of another one") {
    Slow world;
    Process process(world);
    world.cloud.marks_late = false;
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.cloud.marks_late = true;
    world.launch("other");
    REQUIRE(world.run_until([&] { return world.cloud.created() == 2; }, 1min));
    lose_status(world);
    CHECK(world.run_until([&] { return world.ready(); }, 2min));
    CHECK(world.cloud.created() == 2);
}

TEST_CASE("a claim that loses its status while it is drained ends only with its machine") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.condition(conditions::kDrained) != nullptr; }, 1min));
    lose_status(world);
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}

TEST_CASE("a claim without a status makes no machine while it is not known which one is its own") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    auto& machines = world.cloud.machines;
    SECTION("as two bear its mark") {
        auto twin = machines.begin()->second;
        machines.emplace("9999", twin);
        lose_status(world);
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "SeveralMachines"; }));
    }
    SECTION("as one cannot be read") {
        machines.begin()->second.is_unread = true;
        lose_status(world);
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotKnown"; }));
        world.run(5min);
        machines.begin()->second.is_unread = false;
        CHECK(world.run_until([&] { return world.ready(); }, 5min));
    }
    SECTION("as its provider does not show it, though its Node is there") {
        auto hidden = machines.extract(machines.begin());
        lose_status(world);
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotShown"; }));
        world.run(5min);
        machines.insert(std::move(hidden));
        CHECK(world.run_until([&] { return world.ready(); }, 5min));
    }
    SECTION("as its provider lacks rights") {
        world.server.edit<objects::NodeSmithProvider>({"default", "proxmox"}, [](auto& provider) {
            objects::set_condition(provider.status.conditions, conditions::kReady,
                                   api::ConditionStatus::False, objects::kStart, "MissingPrivileges");
        });
        machines.clear();
        lose_status(world);
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotKnown"; }));
    }
    SECTION("as the one with its mark has another UUID") {
        machines.begin()->second.identity.system_uuid = "4c4c4544-0042-3510-8054-b4c04f4d3131";
        lose_status(world);
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MarkOfOtherMachine"; }));
    }
    CHECK(world.cloud.created() == 1);
}

namespace {

// Silent is a provider that does not answer some methods.
struct Silent final : fake::ProviderCalls {
    explicit Silent(std::set<std::string> methods) : methods_(std::move(methods)) {}

    void before(const std::string& method) override {
        if (on && methods_.contains(method))
            throw providers::ProviderError(method + ": 595 no route to host");
    }
    void after(const std::string&) override {}

    bool on = false;

private:
    std::set<std::string> methods_;
};

void set_mode(World& world, api::v1alpha1::Mode mode) {
    world.server.edit<api::v1alpha1::NodeSmithControlPlane>(
        {"default", "main"},
        [mode](api::v1alpha1::NodeSmithControlPlane& manager) { manager.spec.mode = mode; });
}

}  // namespace

TEST_CASE("a claim that had to wait is not held up by the machine of another one that cannot be read") {
    World world;
    Process process(world);
    world.launch("other");
    REQUIRE(world.run_until([&] { return world.ready("other"); }));
    set_mode(world, api::v1alpha1::Mode::Paused);
    world.launch();
    world.run(2min);
    world.cloud.machines.begin()->second.is_unread = true;
    set_mode(world, api::v1alpha1::Mode::Active);
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
}

TEST_CASE("a new claim is launched without a look for a machine") {
    World world;
    Silent calls({"list", "under_way"});
    calls.on = true;
    Process process(world, nullptr, &calls);
    world.run(2s);
    world.launch();
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
}

TEST_CASE("a claim that is older than the operator makes no machine before it is known to have none") {
    World world;
    Silent calls({"under_way"});
    calls.on = true;
    world.launch();
    Process process(world, nullptr, &calls);
    REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotKnown"; }, 1min));
    world.run(2min);
    CHECK(world.cloud.created() == 0);
    calls.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
}

// The list of machines still shows those of a dead host as running.
TEST_CASE("a machine that is taken up again is not said to run while its host is down") {
    World world;
    Silent calls({"get", "ensure"});
    Process process(world, nullptr, &calls);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    const auto machine = world.claim()->status.machineID;
    calls.on = true;
    lose_status(world);
    REQUIRE(world.run_until([&] { return world.claim()->status.machineID == machine; }, 1min));
    CHECK(world.condition(conditions::kLaunched)->status == api::ConditionStatus::Unknown);
    CHECK(world.condition(conditions::kLaunched)->message.find("595 no route to host") != std::string::npos);
    calls.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.cloud.created() == 1);
}

TEST_CASE("a claim that is deleted without its status ends only when its machine is known, and gone") {
    World world;
    world.machines_join = false;
    Silent calls({"list"});
    auto process = std::make_unique<Process>(world, nullptr, &calls);
    world.launch();
    REQUIRE(world.run_until([&] {
        return world.claim() && api::is_true(world.claim()->status.conditions, conditions::kLaunched);
    }));
    process.reset();
    lose_status(world);
    world.server.remove<NodeSmithClaim>(kClaim);
    auto& machine = world.cloud.machines.begin()->second;
    SECTION("while the machine cannot be read") {
        machine.is_unread = true;
    }
    SECTION("while the provider does not answer") {
        calls.on = true;
    }
    process = std::make_unique<Process>(world, nullptr, &calls);
    world.run(5min);
    REQUIRE(world.claim());
    CHECK(world.reason(conditions::kLaunched) == "MachineNotKnown");
    machine.is_unread = false;
    calls.on = false;
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}
