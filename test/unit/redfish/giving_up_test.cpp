// Hosts that fail do not hide those that work, and a claim that gives a host up undoes its changes.
#include "providers/redfish/bmc/bmc_requests.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using api::v1alpha1::BootMethod;
using redfish_simulator::merging;
using redfish_simulator::Power;
using redfish_simulator::refusal;
using redfish_simulator::requests;
using redfish_simulator::SlotKind;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* kImage = "https://images.example/live.iso";

api::v1alpha1::RedfishSpec booting(BootMethod method) {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = method;
    spec.boot.imageURL = kImage;
    return spec;
}

// Examines free hosts as the host reconciler does, including the pause after failures.
void examine_all(World& world) {
    for (auto& [name, host] : world.inventory.objects) {
        if (host.use.owner) continue;
        const auto report = world.examine(name);
        const bool pauses = host.use.next_retry && world.clock.wall_now() < *host.use.next_retry;
        host.power_state = report.power_state;
        host.readiness = providers::HostReadiness{
            report.reason.empty() && report.boot_obstacle.empty() && !pauses, report.boot_obstacle};
        world.inventory.touch(name);
    }
}

std::size_t inserts(World& world, const std::string& host) {
    return world.bmc(host).count("POST", "InsertMedia");
}

}  // namespace

TEST_CASE("two hosts that cannot be woken do not hide a third one, and bear the reason") {
    World world(booting(BootMethod::PXE));
    for (const auto* name : {"a", "b"}) {
        world.add(name, {.memory_gib = 8});
        world.odd(name).add({.is_for = requests("PATCH", "", "Boot"), .instead = refusal(400, "", "")});
    }
    world.add("c", {.memory_gib = 64});
    auto claim = world.claim("c");
    int attempts = 0;
    bool runs = false;
    for (; attempts < 3 && !runs; ++attempts) {
        runs = world.wake(claim);
        if (runs) break;
        REQUIRE(world.put_to_sleep(claim));
        claim.record = {};
        examine_all(world);
    }
    CHECK(runs);
    CHECK(attempts == 2);
    for (const auto* name : {"a", "b"}) {
        CHECK(world.host(name).use.failures == 1);
        CHECK(world.host(name).use.next_retry);
        CHECK(world.host(name).use.last_failure.find("boot target Pxe") != std::string::npos);
    }
}

TEST_CASE("a host whose BMC answers nothing but errors before it is turned on is given up after minutes") {
    World world(booting(BootMethod::PXE));
    world.add("a");
    world.odd("a").add({.is_for = requests("PATCH", "", "Boot"), .instead = refusal(503)});
    auto claim = world.claim("c");
    const auto begin = world.clock.now();
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.starts_with("Busy: "));
    CHECK(world.clock.now() - begin < minutes{7});
    CHECK(world.host("a").use.failures == 1);
}

TEST_CASE("what keeps a host from being booted is known before a claim has it") {
    for (const auto method : {BootMethod::UefiHttp, BootMethod::VirtualMedia}) {
        World world(booting(method));
        world.add("a", {.boot_targets = {"None", "Pxe", "Hdd"}, .slots = {}});
        const auto report = world.examine("a");
        CHECK(report.reason.empty());
        CHECK_FALSE(report.boot_obstacle.empty());
        world.add("b", {.slots = {{"Cd", SlotKind::by_action}}});
        CHECK(world.examine("b").boot_obstacle.empty());
    }
}

TEST_CASE("what keeps a host from being booted is looked at again, as it may have passed or been mended") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a");
    SECTION("slots that were not shown once") {
        auto& odd = world.odd("a").add({.is_for = requests("GET", "VirtualMedia"), .instead = refusal(404)});
        CHECK_FALSE(world.examine("a").boot_obstacle.empty());
        odd.times = 0;
    }
    SECTION("an old firmware") {
        bmc.profile().manufacturer = "Dell Inc.";
        bmc.profile().firmware = "5.10.00.00";
        CHECK_FALSE(world.examine("a").boot_obstacle.empty());
        bmc.profile().firmware = "6.10.00.00";
    }
    world.pass(minutes{10});
    CHECK(world.examine("a").boot_obstacle.empty());
}

TEST_CASE("an image that was inserted in vain is ejected, and an override that was set is cancelled") {
    for (const bool refuses : {true, false}) {
        World world(booting(BootMethod::VirtualMedia));
        auto& bmc = world.add("a", {.slots = {{"Cd1", SlotKind::by_action}, {"Cd2", SlotKind::by_action}}});
        if (refuses)
            world.odd("a").add({.is_for = requests("PATCH", "", "Boot"), .instead = refusal(400)});
        else
            world.odd("a").add({.is_for = requests("POST", "ComputerSystem.Reset"), .instead = refusal(405)});
        auto claim = world.claim("c");
        CHECK_FALSE(world.wake(claim));
        CHECK(inserts(world, "a") == 1);
        world.odd("a").clear();
        REQUIRE(world.put_to_sleep(claim));
        CHECK_FALSE(bmc.media("Cd1").inserted);
        CHECK_FALSE(bmc.media("Cd2").inserted);
        CHECK(bmc.boot_enabled() == "Disabled");
        CHECK(bmc.power() == Power::off);
    }
}

TEST_CASE("a claim that is deleted between the override and On leaves no override") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a");
    world.odd("a").add({.is_for = requests("POST", "ComputerSystem.Reset"), .instead = refusal(503)});
    auto claim = world.claim("c");
    while (bmc.boot_target() != "Pxe") {
        world.ensure(claim);
        world.pass(seconds{1});
    }
    world.odd("a").clear();
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.boot_enabled() == "Disabled");
}

TEST_CASE("a host whose MAC address its URL needs is bootable once one is known") {
    auto spec = booting(BootMethod::VirtualMedia);
    spec.boot.imageURL = "https://images.example/boot-{{ .MAC }}.iso";
    World world(spec);
    auto& bmc = world.add("a", {.macs = {}});
    CHECK_THAT(world.examine("a").boot_obstacle, Catch::Contains("spec.bootMACAddress"));
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK_THAT(claim.outcome, Catch::Contains("spec.bootMACAddress"));
    CHECK(inserts(world, "a") == 0);
    REQUIRE(world.put_to_sleep(claim));
    world.pass(minutes{30});
    world.host("a").use.next_retry.reset();
    world.host("a").macs = {"52:54:00:aa:bb:01"};
    world.host("a").readiness = providers::HostReadiness{true, ""};
    world.inventory.touch("a");
    auto second = world.serving("d", "a");
    CHECK(bmc.media("Cd").image == "https://images.example/boot-52:54:00:aa:bb:01.iso");
    SECTION("an image of others with another name stays") {
        bmc.media("Cd").image = "https://images.example/boot-by-hand.iso";
        REQUIRE(world.put_to_sleep(second));
        CHECK(bmc.media("Cd").inserted);
        return;
    }
    // Another interface comes first by now.
    world.host("a").macs = {"52:54:00:aa:bb:02"};
    world.inventory.touch("a");
    REQUIRE(world.put_to_sleep(second));
    CHECK_FALSE(bmc.media("Cd").inserted);
}

TEST_CASE("an override is cancelled on a BMC that wants target, enabled and mode each time") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a", {.wants_full_boot = true});
    world.odd("a").add({.is_for = requests("POST", "ComputerSystem.Reset"), .instead = refusal(405)});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    world.odd("a").clear();
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.boot_enabled() == "Disabled");
    CHECK_FALSE(world.host("a").use.is_prepared);
}

TEST_CASE(
    "an override that its BMC keeps is reported until it is gone, and its removal is tried less and less") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    bmc.set_override("Pxe", "Continuous");
    auto& keeps =
        world.odd("a").add({.is_for = requests("PATCH", "", "\"Disabled\""), .instead = refusal(400)});
    const auto look = [&world] {
        world.pass(minutes{10});
        return world.examine("a").left_prepared;
    };
    SECTION("while the host serves") {
        CHECK_THAT(look(), Catch::Contains("boot override"));
        CHECK(world.host("a").use.is_prepared);
        keeps.times = 0;
        for (int i = 0; i < 6; ++i) look();
        CHECK(look().empty());
        CHECK_FALSE(world.host("a").use.is_prepared);
    }
    SECTION("after its claim has ended") {
        REQUIRE(world.put_to_sleep(claim));
        CHECK(world.host("a").use.is_prepared);
        const auto before = bmc.count("PATCH", "");
        for (int i = 0; i < 144; ++i) CHECK_THAT(look(), Catch::Contains("boot override"));
        CHECK(bmc.count("PATCH", "") == before);
        keeps.times = 0;
        for (int i = 0; i < 144; ++i) look();
        CHECK(look().empty());
        CHECK_FALSE(world.host("a").use.is_prepared);
        CHECK(bmc.boot_enabled() == "Disabled");
    }
}

TEST_CASE("an image that stays in its slot is ejected later, and reported until then") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    SECTION("as the BMC refuses to eject it") {
        bmc.profile().eject_fails = true;
    }
    SECTION("as the BMC shows no slots at the moment") {
        world.odd("a").add({.is_for = requests("GET", "VirtualMedia"), .instead = refusal(404)});
    }
    SECTION("as the BMC shows one slot less at the moment") {
        world.odd("a").add({.is_for = requests("GET", "VirtualMedia/Cd"), .instead = refusal(404)});
    }
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.media("Cd").inserted);
    CHECK(world.host("a").use.is_prepared);
    CHECK_THAT(world.examine("a").left_prepared, Catch::Contains("image"));
    world.odd("a").clear();
    bmc.profile().eject_fails = false;
    for (int i = 0; i < 12; ++i) {
        world.pass(minutes{10});
        world.examine("a");
    }
    CHECK_FALSE(bmc.media("Cd").inserted);
    CHECK_FALSE(world.host("a").use.is_prepared);
    CHECK(world.examine("a").left_prepared.empty());
}

TEST_CASE("a host whose BMC keeps an override to the network is not booted from its disk") {
    World world(booting(BootMethod::Disk));
    auto& bmc = world.add("a");
    bmc.set_override("Pxe", "Continuous");
    world.odd("a").add({.is_for = requests("PATCH", "", "Boot"), .instead = refusal(400)});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK_THAT(claim.outcome, Catch::Contains("boot override"));
    CHECK(bmc.boots() == 0);
}

TEST_CASE(
    "a host that someone else turns on during the boot preparation keeps their boot settings, with an "
    "Event") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a");
    bool was_turned_on = false;
    world.odd("a").add({.is_for = requests("PATCH", "", "Boot"),
                        .alter = [&](const base::HttpRequest&, base::HttpResponse&) {
                            if (!was_turned_on) bmc.set_power(Power::on);
                            was_turned_on = true;
                            bmc.set_override("Pxe", "Once");
                        }});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(bmc.power() == Power::on);
    REQUIRE_FALSE(world.inventory.announced.empty());
    CHECK(world.inventory.announced.front().starts_with("FoundOn a "));
}

TEST_CASE("what could not be undone is undone when the BMC answers again") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    world.odd("a").add({.is_for = requests("POST", "ComputerSystem.Reset"), .instead = refusal(503)});
    world.ensure(claim);
    world.ensure(claim);
    // A process died after it had prepared the boot, which was recorded before.
    bmc.set_override("Pxe", "Once");
    world.host("a").use.stage = HostStage::reserved;
    world.host("a").use.is_prepared = true;
    world.inventory.touch("a");
    world.odd("a").add({.is_for = requests("", ""), .instead = refusal(503)});
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.boot_enabled() == "Once");
    world.odd("a").clear();
    world.examine("a");
    CHECK(bmc.boot_enabled() == "Disabled");
}

TEST_CASE("an image is known by whatever its slot shows of it, and ejected at the end") {
    for (const auto* shown : {R"({"Image":"live.iso"})", R"({"Image":null})", R"({"Image":"/live.iso"})",
                              R"({"Image":"https://user@images.example/live.iso"})",
                              R"({"Image":null,"ImageName":"live.iso"})", R"({"Inserted":null})"}) {
        World world(booting(BootMethod::VirtualMedia));
        auto& bmc = world.add("a");
        world.odd("a").add(
            {.is_for = requests("GET", "VirtualMedia/Cd"),
             .alter = [&, shown](const base::HttpRequest& request, base::HttpResponse& response) {
                 if (bmc.media("Cd").inserted) merging(shown)(request, response);
             }});
        INFO(shown);
        auto claim = world.claim("c");
        CHECK(world.wake(claim));
        CHECK(inserts(world, "a") == 1);
        world.joined("a");
        world.pass(minutes{5});
        CHECK(world.put_to_sleep(claim));
        CHECK_FALSE(bmc.media("Cd").inserted);
    }
}

TEST_CASE("the boot is prepared once, and what others inserted stays where a slot is free") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add(
        "a", {.slots = {
                  {"Cd1", SlotKind::by_action}, {"Cd2", SlotKind::by_action}, {"Cd3", SlotKind::by_action}}});
    bmc.media("Cd1") = {"http://192.0.2.9/other.iso", true, {}};
    // Somebody else keeps writing the host's status.
    world.odd("a").add({.is_for = [&world](const base::HttpRequest& request) {
        if (request.method == "PATCH") world.inventory.touch("a");
        return false;
    }});
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    CHECK(inserts(world, "a") == 1);
    world.joined("a");
    world.pass(minutes{5});
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.media("Cd1").inserted);
    CHECK_FALSE(bmc.media("Cd2").inserted);
}

TEST_CASE("an image of others is ejected where no slot is free, and people are told") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a");
    bmc.media("Cd") = {"http://192.0.2.9/other.iso", true, {}};
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    REQUIRE_FALSE(world.inventory.announced.empty());
    CHECK(world.inventory.announced.front().starts_with("MediaEjected a "));
}

TEST_CASE("after a restart in the middle a slot that holds our image is used again") {
    World world(booting(BootMethod::VirtualMedia));
    world.add("a", {.slots = {{"Cd1", SlotKind::by_action}, {"Cd2", SlotKind::by_action}}});
    world.odd("a").add({.is_for = requests("PATCH", "", "Boot"), .instead = refusal(503)});
    auto claim = world.claim("c");
    while (inserts(world, "a") == 0) {
        world.ensure(claim);
        world.pass(seconds{1});
    }
    world.odd("a").clear();
    world.restart();
    CHECK(world.wake(claim));
    CHECK(inserts(world, "a") == 1);
}

TEST_CASE("an image that a free slot refuses has none of others ejected for it") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a", {.slots = {{"Cd1", SlotKind::by_action}, {"Cd2", SlotKind::by_action}}});
    bmc.media("Cd1") = {"http://192.0.2.9/other.iso", true, {}};
    const bool is_accepted = GENERATE(false, true);
    base::HttpResponse nothing;
    nothing.status = 204;
    world.odd("a").add(
        {.is_for = requests("POST", "Cd2/Actions/VirtualMedia.InsertMedia"),
         .instead = is_accepted ? nothing : refusal(500, "InternalError", "the image cannot be read")});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(bmc.media("Cd1").inserted);
    CHECK(world.inventory.announced.empty());
    CHECK_THAT(claim.outcome, Catch::Contains(is_accepted ? "does not show it" : "the image cannot be read"));
}

TEST_CASE("an image of others that its slot keeps is not replaced") {
    World world(booting(BootMethod::VirtualMedia));
    const bool has_other_slot = GENERATE(false, true);
    auto& bmc = world.add("a", {.slots = {{"Cd1", SlotKind::by_action}, {"Cd2", SlotKind::by_action}}});
    const std::string theirs = "http://192.0.2.9/other.iso";
    bmc.media("Cd1") = {theirs, true, {}};
    bmc.media("Cd2") = {theirs, true, {}};
    world.odd("a").add({.is_for = requests("POST", has_other_slot ? "Cd1/Actions/VirtualMedia.EjectMedia"
                                                                  : "VirtualMedia.EjectMedia"),
                        .instead = refusal(500, "InternalError", "the drive is locked")});
    auto claim = world.claim("c");
    CHECK(world.wake(claim) == has_other_slot);
    CHECK(bmc.media("Cd1").image == theirs);
    if (!has_other_slot) {
        CHECK(bmc.media("Cd2").image == theirs);
        CHECK_THAT(claim.outcome, Catch::Contains("keeps an image of others"));
        CHECK(world.inventory.announced.empty());
    }
}

TEST_CASE("an image of others that was ejected in vain is reported, too") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a");
    bmc.media("Cd") = {"http://192.0.2.9/other.iso", true, {}};
    world.odd("a").add({.is_for = requests("POST", "VirtualMedia.InsertMedia"),
                        .instead = refusal(500, "InternalError", "the image cannot be read")});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    REQUIRE(world.inventory.announced.size() == 1);
    CHECK(world.inventory.announced.front().starts_with("MediaEjected a "));
    CHECK_THAT(world.inventory.announced.front(), Catch::Contains("other.iso"));
}

TEST_CASE("a BMC that refuses to clear our override keeps the host for minutes, not for ever") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a", {.only_continuous = true});
    auto claim = world.serving("c", "a");
    REQUIRE(bmc.boot_target() == "Pxe");
    const int status = GENERATE(409, 503);
    world.odd("a").add({.is_for = requests("PATCH", "", "Boot"), .instead = refusal(status)});
    CHECK_FALSE(world.put_to_sleep(claim, minutes{3}));
    CHECK(world.put_to_sleep(claim, minutes{10}));
    CHECK(world.host("a").use.is_prepared);
    CHECK_FALSE(world.examine("a").left_prepared.empty());
    world.odd("a").clear();
    world.pass(minutes{30});
    CHECK(world.examine("a").left_prepared.empty());
    CHECK(bmc.boot_target() == "None");
    CHECK_FALSE(world.host("a").use.is_prepared);
}
