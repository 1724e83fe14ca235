// Tests what a BMC forgets, and what the operator must not forget or take for granted.
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using api::v1alpha1::BootMethod;
using redfish_simulator::merging;
using redfish_simulator::Power;
using redfish_simulator::refusal;
using redfish_simulator::requests;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* kImage = "https://images.example/live.iso";
const auto kReset = requests("POST", "ComputerSystem.Reset");

api::v1alpha1::RedfishSpec booting(BootMethod method) {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = method;
    spec.boot.imageURL = kImage;
    return spec;
}

api::v1alpha1::RedfishSpec erasing() {
    api::v1alpha1::RedfishSpec spec;
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    return spec;
}

std::size_t erasures(Bmc& bmc) {
    return bmc.count("POST", "SecureErase");
}

}  // namespace

TEST_CASE("an override that a BMC forgets while it refuses On is set again before the next On") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a");
    auto& refuses = world.odd("a").add({.is_for = kReset, .instead = refusal(409)});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim, seconds{70}));
    REQUIRE(bmc.boot_enabled() == "Once");
    bmc.set_override("None", "Disabled");
    refuses.times = 0;
    CHECK(world.wake(claim));
    CHECK(bmc.booted_from() == "Pxe");
    CHECK(bmc.boots() == 1);
}

TEST_CASE("an image that a BMC forgets while it refuses On is inserted again before the next On") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a");
    auto& refuses = world.odd("a").add({.is_for = kReset, .instead = refusal(409)});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim, seconds{70}));
    REQUIRE(bmc.media("Cd").inserted);
    bmc.media("Cd") = {};
    refuses.times = 0;
    CHECK(world.wake(claim));
    CHECK(bmc.booted_from() == "Cd");
    CHECK(bmc.media("Cd").image == kImage);
    CHECK(world.inventory.announced.empty());
}

TEST_CASE("an override that appears while On is refused does not keep a host from its disk") {
    World world(booting(BootMethod::Disk));
    auto& bmc = world.add("a");
    auto& refuses = world.odd("a").add({.is_for = kReset, .instead = refusal(409)});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim, seconds{70}));
    bmc.set_override("Pxe", "Once");
    refuses.times = 0;
    CHECK(world.wake(claim));
    CHECK(bmc.booted_from() == "Hdd");
}

TEST_CASE("an override that a boot has used up is not set again because the BMC still says Off") {
    World world(booting(BootMethod::PXE));
    const auto lag = GENERATE(seconds{60}, seconds{90});
    auto& bmc = world.add("a", {.power_on = seconds{1}, .remembers_power = lag});
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    CHECK(bmc.booted_from() == "Pxe");
    CHECK(bmc.boots() == 1);
    CHECK(bmc.boot_enabled() == "Disabled");
}

TEST_CASE("a free host that is off keeps whatever is not proven to be ours") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a");
    const bool is_recorded = GENERATE(false, true);
    world.host("a").use.is_prepared = is_recorded;
    world.inventory.touch("a");
    const std::string image = GENERATE(as<std::string>{}, "", "http://192.0.2.9/other.iso", kImage);
    bmc.media("Cd") = {image, true, {}};
    bmc.set_override("Cd", "Once");
    for (int looks = 0; looks < 3; ++looks) {
        CHECK(world.examine("a").reason.empty());
        world.pass(std::chrono::hours{25});
    }
    // The record is written before the BMC gets anything, so it also covers a process that died in between.
    CHECK((bmc.boot_enabled() == "Once") == !is_recorded);
    const bool is_ours = image == kImage || (image.empty() && is_recorded);
    CHECK(bmc.media("Cd").inserted == !is_ours);
}

TEST_CASE("a machine whose host lost its record is not gone because its BMC once says Off") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    // The object was restored from a backup.
    world.host("a").use = {};
    world.host("a").power_state = GENERATE("On", "Off");
    world.inventory.touch("a");
    auto& says_off = world.odd("a").add({.is_for = requests("GET", "/Systems/Blade1"),
                                         .times = 1,
                                         .alter = merging(R"({"PowerState":"Off"})")});
    CHECK_FALSE(std::holds_alternative<providers::Gone>(world.remove(claim)));
    REQUIRE(says_off.times == 0);
    CHECK_FALSE(world.put_to_sleep(claim, minutes{3}));
    CHECK(claim.outcome.starts_with("OwnershipMismatch"));
    CHECK(bmc.power() == Power::on);
    bmc.set_power(Power::off);
    const auto begin = world.clock.now();
    CHECK(world.put_to_sleep(claim, minutes{10}));
    CHECK(world.clock.now() - begin >= seconds{65});
}

TEST_CASE("a restart begins no erasure that is under way or done a second time") {
    World world(erasing());
    auto& bmc = world.add("a", {.drives = 3, .erase = minutes{2}});
    auto claim = world.serving("c", "a");
    bool is_gone = false;
    for (int steps = 0; steps < 300 && !is_gone; ++steps) {
        is_gone = std::holds_alternative<providers::Gone>(world.remove(claim));
        world.pass(seconds{6});
        // Each process lives just long enough to be sure that the host is off.
        if (erasures(bmc) > 0 && steps % 15 == 0) world.restart();
    }
    CHECK(is_gone);
    CHECK(erasures(bmc) == 3);
    CHECK(bmc.erased_drives() == 3);
}

TEST_CASE("a host that was on while its drives were erased is erased again") {
    World world(erasing());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    while (erasures(bmc) < 2) {
        world.remove(claim);
        world.pass(seconds{6});
    }
    bmc.set_power(Power::on);
    // What the claim recorded of erased drives ends before the claim waits for a person.
    CHECK(std::holds_alternative<providers::RemovalInProgress>(world.remove(claim)));
    CHECK(std::holds_alternative<providers::RemovalBlocked>(world.remove(claim)));
    const bool restarts = GENERATE(false, true);
    if (restarts) world.restart();
    bmc.set_power(Power::off);
    CHECK(world.put_to_sleep(claim));
    CHECK(erasures(bmc) == 4);
}

TEST_CASE("what an earlier claim erased does not count for the next one") {
    World world(erasing());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    CHECK_FALSE(world.put_to_sleep(claim, minutes{2}));
    REQUIRE(erasures(bmc) > 0);
    // A person states that its machine is gone.
    CHECK(world.run(world.provider->release(claim.identity, claim.record)));
    const auto before = erasures(bmc);
    world.host("a").readiness = providers::HostReadiness{true, ""};
    world.inventory.touch("a");
    auto next = world.serving("d", "a");
    CHECK(world.put_to_sleep(next));
    CHECK(erasures(bmc) == before + 2);
}

TEST_CASE("a drive that two controllers link to is one drive") {
    World world(erasing());
    auto& bmc = world.add("a");
    const std::string storage = "/redfish/v1/Systems/Blade1/Storage";
    world.odd("a").add({.is_for = requests("GET", "/Storage"),
                        .alter = merging(R"({"Members":[{"@odata.id":")" + storage +
                                         R"(/1"},{"@odata.id":")" + storage + R"(/2"}]})")});
    base::HttpResponse second;
    second.status = 200;
    second.body = R"({"Drives":[{"@odata.id":")" + storage + R"(/1/Drives/1/"},{"@odata.id":"https://bmc)" +
                  storage + R"(/1/Drives/2"}]})";
    world.odd("a").add({.is_for = requests("GET", "/Storage/2"), .instead = second});
    const auto disks = world.examine("a").disks;
    REQUIRE(disks.size() == 1);
    CHECK(disks.front().count == 2);
    auto claim = world.serving("c", "a");
    CHECK(world.put_to_sleep(claim));
    CHECK(erasures(bmc) == 2);
}
