// The operator never switches off what somebody else turned on, whenever a process dies.
#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using redfish_simulator::Power;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const std::string kOtherUuid = "4c4c4544-0042-3510-8054-b4c04f4d3133";

// Reserves a host whose identity the claim knows, before any request to the host.
World::Claim reserve(World& world, const std::string& name = "c") {
    auto claim = world.claim(name);
    world.ensure(claim);
    world.ensure(claim);
    REQUIRE(world.host(claim.record.machine_id).use.stage == HostStage::reserved);
    return claim;
}

// Restarts after the request. The next process finds what this one left on the BMC and in the host's status.
void restart_after_request(World& world, World::Claim& claim, const char* what) {
    auto& bmc = world.bmc(claim.record.machine_id);
    const auto asked = bmc.count("POST", what);
    for (int i = 0; i < 100 && bmc.count("POST", what) == asked; ++i) {
        world.ensure(claim);
        world.pass(seconds{1});
    }
    REQUIRE(bmc.count("POST", what) == asked + 1);
    world.restart();
}

bool never_joined(World& world, World::Claim& claim, base::Duration limit = minutes{30}) {
    const auto deadline = world.clock.now() + limit;
    const auto nobody = []() -> asio::awaitable<bool> { co_return false; };
    while (world.clock.now() < deadline) {
        if (std::holds_alternative<providers::Gone>(world.remove(claim, nobody))) return true;
        world.pass(seconds{5});
    }
    return false;
}

}  // namespace

TEST_CASE(
    "a host that came on since its last poll is left to who turned it on, and the claim goes elsewhere") {
    World world;
    auto& bmc = world.add("a");
    world.add("b", {.uuid = kOtherUuid});
    world.host("a").priority = 1;
    auto claim = reserve(world);
    REQUIRE(claim.record.machine_id == "a");
    bmc.set_power(Power::on);
    REQUIRE(world.wake(claim));
    CHECK(claim.record.machine_id == "b");
    CHECK(world.bmc("b").power() == Power::on);
    CHECK_FALSE(world.host("a").use.owner);
    world.joined("b");
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::on);
    CHECK(bmc.count("POST", "Reset") == 0);
}

TEST_CASE("without another host the claim waits, and what is on is left alone also when the claim ends") {
    World world;
    auto& bmc = world.add("a");
    auto claim = reserve(world);
    bmc.set_power(Power::on);
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("host a was found on") != std::string::npos);
    world.host("a").power_state = "On";
    CHECK(never_joined(world, claim));
    CHECK(bmc.power() == Power::on);
    CHECK(bmc.count("POST", "Reset") == 0);
}

TEST_CASE("a host that comes on while its boot is prepared is left to who turned it on") {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = api::v1alpha1::BootMethod::PXE;
    World world(spec);
    auto& bmc = world.add("a", {.latency = seconds{1}});
    auto claim = reserve(world);
    const auto alarm = world.clock.call_at(world.clock.now() + seconds{5}, [&] { bmc.set_power(Power::on); });
    CHECK_FALSE(world.wake(claim, minutes{2}));
    CHECK_FALSE(world.host("a").use.owner);
    CHECK(bmc.count("POST", "Reset") == 0);
}

TEST_CASE("the user may give a host that is on") {
    World world;
    auto& bmc = world.add("a");
    world.host("a").is_given = true;
    auto claim = reserve(world);
    bmc.set_power(Power::on);
    REQUIRE(world.wake(claim));
    CHECK(claim.record.machine_id == "a");
    CHECK(never_joined(world, claim));
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("after a crash on any line what we turned on is ours, and what others did is not") {
    World world;
    auto& bmc = world.add("a");
    auto claim = reserve(world);
    SECTION("before the request was made") {
        world.host("a").use.stage = HostStage::powering_on;
        world.inventory.touch("a");
        bmc.set_power(Power::on);
        // The request may have been sent: the host's Node would show that.
        REQUIRE(world.wake(claim));
        CHECK_FALSE(world.host("a").use.woken);
        CHECK(never_joined(world, claim));
        CHECK(bmc.power() == Power::on);
        CHECK(bmc.count("POST", "Reset") == 0);
        CHECK_FALSE(world.host("a").use.owner);
    }
    SECTION("after it was taken") {
        restart_after_request(world, claim, "Reset");
        REQUIRE(world.wake(claim));
        CHECK(world.host("a").use.woken);
        CHECK(never_joined(world, claim));
        CHECK(bmc.power() == Power::off);
    }
    SECTION("and with a Node in the cluster a person decides") {
        world.host("a").use.stage = HostStage::powering_on;
        world.inventory.touch("a");
        bmc.set_power(Power::on);
        REQUIRE(world.wake(claim));
        world.joined("a");
        CHECK_FALSE(world.put_to_sleep(claim, minutes{10}));
        CHECK(claim.outcome.find("InUseByOthers") == 0);
        world.host("a").is_given = true;
        world.inventory.touch("a");
        CHECK(world.put_to_sleep(claim));
    }
}

TEST_CASE("a removal that begins before the taken request was recorded still turns the host off") {
    World world;
    auto& bmc = world.add("a");
    auto claim = reserve(world);
    const auto asked = bmc.count("POST", "Reset");
    for (int i = 0; i < 100 && bmc.count("POST", "Reset") == asked; ++i) {
        world.ensure(claim);
        world.pass(seconds{1});
    }
    world.host("a").use.woken.reset();
    world.inventory.touch("a");
    SECTION("while the host is on its way") {}
    SECTION("while the host is on") {
        world.pass(minutes{1});
    }
    world.remove(claim);
    world.restart();
    world.pass(minutes{3});
    CHECK(never_joined(world, claim));
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("a host that we turned on, that went off and that others turned on, is left to them") {
    World world;
    auto& bmc = world.add("a");
    auto claim = reserve(world);
    REQUIRE(world.wake(claim));
    REQUIRE(world.host("a").use.stage == HostStage::joining);
    world.host("a").use.woken.reset();
    world.inventory.touch("a");
    const auto asked = bmc.count("POST", "Reset");
    world.pass(minutes{5});
    world.remove(claim);
    CHECK(bmc.count("POST", "Reset") == asked);
    CHECK(bmc.power() == Power::on);
}

TEST_CASE(
    "a host that was to be turned on is not taken for one that was off, because its BMC remembers Off") {
    World world;
    auto& bmc = world.add("a", {.remembers_power = seconds{60}});
    world.examine("a");
    auto claim = reserve(world);
    world.host("a").use.stage = HostStage::powering_on;
    world.inventory.touch("a");
    bmc.set_power(Power::on);
    world.remove(claim);
    CHECK(world.host("a").use.stage == HostStage::powering_on);
    world.pass(minutes{2});
    const auto joined = []() -> asio::awaitable<bool> { co_return true; };
    CHECK(std::holds_alternative<providers::RemovalInProgress>(world.remove(claim, joined)));
    CHECK(world.host("a").use.owner);
    CHECK(bmc.power() == Power::on);
}

TEST_CASE("a request that a BMC refused does not make ours what is on afterwards") {
    World world;
    auto& bmc = world.add("a", {.conflict_after_off = minutes{5}});
    auto claim = reserve(world);
    bmc.set_power(Power::off);
    const auto alarm =
        world.clock.call_at(world.clock.now() + seconds{30}, [&] { bmc.set_power(Power::on); });
    REQUIRE(world.wake(claim));
    CHECK(bmc.count("POST", "Reset") > 0);
    CHECK_FALSE(world.host("a").use.woken);
    CHECK(never_joined(world, claim));
    CHECK(bmc.power() == Power::on);
}

TEST_CASE("what comes on again after we turned it off is somebody else's, in this process and the next") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    world.joined("a");
    world.pass(minutes{10});
    // The API server does not answer when the host counts as off and is about to be given back.
    world.inventory.on_read = [&world] {
        if (!world.host("a").use.woken) throw providers::ProviderError("no answer");
    };
    for (int i = 0; i < 200 && world.host("a").use.woken; ++i) {
        try {
            world.remove(claim);
        } catch (const providers::ProviderError&) {
            break;
        }
        world.pass(seconds{1});
    }
    world.inventory.on_read = {};
    REQUIRE(world.host("a").use.owner);
    REQUIRE_FALSE(world.host("a").use.woken);
    bmc.set_power(Power::on);
    SECTION("in this process") {}
    SECTION("in the next") {
        world.restart();
    }
    const auto asked = bmc.count("POST", "Reset");
    CHECK(world.put_to_sleep(claim, minutes{5}));
    CHECK(bmc.power() == Power::on);
    CHECK(bmc.count("POST", "Reset") == asked);
}

TEST_CASE("two clusters that share a rack do not cut each other's machines") {
    World ours;
    auto& bmc = ours.add("a");
    auto claim = reserve(ours);
    // The other cluster's operator turns the host on between our polls, and its Node joins there.
    bmc.set_power(Power::on);
    CHECK_FALSE(ours.wake(claim, minutes{30}));
    ours.restart();
    ours.host("a").power_state = "On";
    CHECK(never_joined(ours, claim));
    CHECK(bmc.power() == Power::on);
}

TEST_CASE("before its power is cut a host is asked to shut down, and people are told why it is cut") {
    World world;
    auto& bmc = world.add("a");
    std::size_t asked_when_told = 0;
    world.inventory.on_announcement = [&] { asked_when_told = bmc.count("POST", "Reset"); };
    const auto& told = world.inventory.announced;
    auto claim = world.claim("c");
    SECTION("one that never joined") {
        bmc.profile().ignores_shutdown = true;
        REQUIRE(world.wake(claim));
        world.pass(minutes{10});
        CHECK(never_joined(world, claim));
        REQUIRE(told.size() == 1);
        CHECK(told.front() ==
              "CuttingPower a is switched off by force: it did not shut down within 3m0s "
              "(spec.redfish.powerOff.gracefulTimeout)");
        CHECK(asked_when_told == 2);
    }
    SECTION("one whose BMC cannot") {
        bmc.profile().no_graceful_shutdown = true;
        REQUIRE(world.wake(claim));
        world.joined("a");
        world.pass(minutes{10});
        CHECK(world.put_to_sleep(claim));
        REQUIRE(told.size() == 1);
        CHECK(told.front() == "CuttingPower a is switched off by force: its BMC offers no GracefulShutdown");
        CHECK(asked_when_told == 1);
    }
    SECTION("one that is switched off and on for the repair of its Node") {
        bmc.profile().ignores_shutdown = true;
        REQUIRE(world.wake(claim));
        world.joined("a");
        world.pass(minutes{10});
        const auto begun = world.clock.now();
        const auto off = [&] {
            return world.run(
                world.provider->switch_power(claim.identity, claim.record, providers::Power::off, {}));
        };
        while (!off()) world.pass(seconds{3});
        CHECK(world.clock.now() - begun >= minutes{3});
        CHECK(told.size() == 1);
    }
    SECTION("one that shuts down is not spoken of") {
        REQUIRE(world.wake(claim));
        world.joined("a");
        world.pass(minutes{10});
        CHECK(world.put_to_sleep(claim));
        CHECK(told.empty());
    }
}
