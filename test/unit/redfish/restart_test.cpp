// Tests what a process that begins anew must know of a host. Only the host's object and its BMC tell it.
#include <algorithm>
#include <optional>

#include "providers/redfish/bmc/asset_tag.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using api::v1alpha1::BootMethod;
using providers::redfish::lock_mark;
using redfish_simulator::Power;
using redfish_simulator::refusal;
using redfish_simulator::requests;
using redfish_simulator::SlotKind;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* kImage = "https://images.example/live.iso";

api::v1alpha1::RedfishSpec restarting(BootMethod method) {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = method;
    spec.boot.imageURL = kImage;
    return spec;
}

api::v1alpha1::RedfishSpec locked_and_erased() {
    auto spec = restarting(BootMethod::PXE);
    spec.hostLock.field = api::v1alpha1::HostLockField::AssetTag;
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    return spec;
}

std::string mark_of_others() {
    return lock_mark({.cluster_id = "uid-of-another-cluster", .claim_uid = "uid-of-their-claim"});
}

std::size_t erasures(Bmc& bmc) {
    return bmc.count("POST", "SecureErase");
}

// Removes the claim until its mark is off the host. The process dies before it records that the host is free.
void die_after_unlocking(World& world, World::Claim& claim, Bmc& bmc) {
    std::optional<Host> before;
    bmc.on_tag_write = [&](const std::string& tag) {
        if (tag.empty() && !before) before = world.host("a");
    };
    REQUIRE(world.put_to_sleep(claim));
    bmc.on_tag_write = {};
    REQUIRE(bmc.asset_tag().empty());
    REQUIRE(before);
    world.host("a") = *before;
    world.inventory.touch("a");
    world.restart();
}

// Lets a claim prepare the boot of its host. The process dies before it records that it turns the host on.
World::Claim die_after_preparing(World& world, Bmc& bmc) {
    auto claim = world.claim("c");
    world.odd("a").add({.is_for = [&](const base::HttpRequest& request) {
        if (request.method == "PATCH") world.host("a").use.stage = HostStage::powering_off;
        return false;
    }});
    for (int steps = 0; steps < 3; ++steps) world.ensure(claim);
    REQUIRE(bmc.boot_enabled() == "Once");
    REQUIRE(bmc.power() == Power::off);
    world.odd("a").clear();
    world.host("a").use.stage = HostStage::reserved;
    world.inventory.touch("a");
    world.restart();
    return claim;
}

}  // namespace

TEST_CASE("a host that another cluster took is given back as it is, even if a process died before that") {
    World world(locked_and_erased());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    die_after_unlocking(world, claim, bmc);
    const auto erased = erasures(bmc);
    REQUIRE(erased > 0);
    bmc.set_asset_tag(mark_of_others());
    bmc.set_override("Pxe", "Once");
    const bool is_on = GENERATE(true, false);
    if (is_on) bmc.set_power(Power::on);
    CHECK(world.put_to_sleep(claim, minutes{10}));
    CHECK_FALSE(world.host("a").use.owner);
    CHECK(erasures(bmc) == erased);
    CHECK(bmc.asset_tag() == mark_of_others());
    CHECK(is_on == (bmc.power() == Power::on));
    if (!is_on) CHECK(bmc.boot_enabled() == "Once");
}

TEST_CASE("no host is erased without its lock, which another cluster could take meanwhile") {
    World world(locked_and_erased());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    die_after_unlocking(world, claim, bmc);
    std::string tag_at_erasure = "none";
    world.odd("a").add({.is_for = [&](const base::HttpRequest& request) {
        if (requests("POST", "Drive.SecureErase")(request)) tag_at_erasure = bmc.asset_tag();
        return false;
    }});
    CHECK(world.put_to_sleep(claim, minutes{10}));
    CHECK(tag_at_erasure == lock_mark(claim.identity));
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("a host that a user gave us is erased and unlocked, although another cluster had marked it") {
    World world(locked_and_erased());
    auto& bmc = world.add("a");
    bmc.set_asset_tag(mark_of_others());
    world.host("a").is_given = true;
    world.inventory.touch("a");
    auto claim = world.serving("c", "a");
    REQUIRE(bmc.asset_tag() == lock_mark(claim.identity));
    CHECK(world.put_to_sleep(claim));
    CHECK(erasures(bmc) == 2);
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("a host whose object was changed while its lock was released is given back") {
    World world(locked_and_erased());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    bmc.on_tag_write = [&](const std::string&) { world.inventory.touch("a"); };
    bool was_conflict = false;
    bool is_gone = false;
    for (int steps = 0; steps < 200 && !is_gone; ++steps) {
        const auto result = world.remove(claim);
        const auto* busy = std::get_if<providers::RemovalInProgress>(&result);
        was_conflict = was_conflict || (busy && busy->message.find("changed meanwhile") != std::string::npos);
        is_gone = std::holds_alternative<providers::Gone>(result);
        world.pass(seconds{15});
    }
    CHECK(is_gone);
    CHECK_FALSE(was_conflict);
}

TEST_CASE("what could not be undone is undone by the next process too") {
    World world(restarting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a", {.slots = {{"Cd", SlotKind::by_action}}});
    CHECK(world.examine("a").reason.empty());
    auto claim = die_after_preparing(world, bmc);
    const bool is_refused = GENERATE(true, false);
    if (is_refused) world.odd("a").add({.is_for = requests("PATCH", ""), .instead = refusal(503)});
    // Somebody else turns the host on.
    if (is_refused) {
        REQUIRE(world.put_to_sleep(claim));
        bmc.set_power(Power::on);
    } else {
        bmc.set_power(Power::on);
        world.ensure(claim);
    }
    bmc.set_override("Cd", "Once");
    REQUIRE_FALSE(world.host("a").use.owner);
    world.restart();
    world.odd("a").clear();
    CHECK(world.examine("a").reason.empty());
    CHECK(bmc.boot_enabled() == "Disabled");
    CHECK_FALSE(bmc.media("Cd").inserted);
    CHECK(bmc.power() == Power::on);
    // It is undone once.
    bmc.set_override("Cd", "Once");
    world.restart();
    CHECK(world.examine("a").reason.empty());
    CHECK(bmc.boot_enabled() == "Once");
}

TEST_CASE("a claim that ends before its boot was prepared undoes nothing that others prepared") {
    World world(restarting(BootMethod::PXE));
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    world.ensure(claim);
    world.ensure(claim);
    REQUIRE(world.host("a").use.stage == HostStage::reserved);
    bmc.set_override("Pxe", "Once");
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.boot_enabled() == "Once");
}

TEST_CASE("a boot is prepared once, even if another process goes on with it") {
    World world(restarting(BootMethod::PXE));
    auto& bmc = world.add("a", {.power_on = seconds{1}, .remembers_power = seconds{60}});
    auto claim = world.claim("c");
    for (int steps = 0; steps < 20 && bmc.boots() == 0; ++steps) {
        world.ensure(claim);
        world.pass(seconds{1});
    }
    REQUIRE(bmc.booted_from() == "Pxe");
    world.restart();
    REQUIRE(world.wake(claim));
    CHECK(bmc.boot_enabled() == "Disabled");
    CHECK(bmc.boots() == 1);
}

TEST_CASE("a host that a power cycle just turned on is not off because its BMC still says so") {
    auto spec = locked_and_erased();
    spec.boot.method = BootMethod::Disk;
    World world(spec);
    auto& bmc = world.add("a", {.power_on = seconds{1}, .remembers_power = seconds{60}});
    auto claim = world.serving("c", "a");
    const auto turn = [&](providers::Power power) {
        return world.run(world.provider->switch_power(claim.identity, claim.record, power, {}));
    };
    for (int steps = 0; steps < 100 && !turn(providers::Power::off); ++steps) world.pass(seconds{3});
    REQUIRE(bmc.power() == Power::off);
    turn(providers::Power::on);
    world.pass(seconds{2});
    REQUIRE(bmc.power() == Power::on);
    const bool restarts = GENERATE(true, false);
    if (restarts) world.restart();
    bool was_on_at_erasure = false;
    world.odd("a").add({.is_for = [&](const base::HttpRequest& request) {
        const bool erases = requests("POST", "Drive.SecureErase")(request);
        was_on_at_erasure = was_on_at_erasure || (erases && bmc.power() != Power::off);
        return false;
    }});
    CHECK(world.put_to_sleep(claim));
    CHECK_FALSE(was_on_at_erasure);
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("a system that a power cycle did not end is asked to shut down by the next one too") {
    World world;
    auto& bmc = world.add("a", {.ignores_shutdown = true});
    auto claim = world.serving("c", "a");
    const auto turn_off = [&] {
        return world.run(
            world.provider->switch_power(claim.identity, claim.record, providers::Power::off, {}));
    };
    for (int steps = 0; steps < 5; ++steps) {
        CHECK_FALSE(turn_off());
        world.pass(seconds{3});
    }
    REQUIRE(bmc.power() == Power::on);
    // Its Node became Ready, so it was not turned off. Hours later it is broken again.
    world.pass(minutes{180});
    bmc.profile().ignores_shutdown = false;
    for (int steps = 0; steps < 100 && !turn_off(); ++steps) world.pass(seconds{3});
    CHECK(bmc.power() == Power::off);
    CHECK(std::ranges::none_of(bmc.exchanges(), [](const redfish_simulator::Exchange& exchange) {
        return exchange.body.find("ForceOff") != std::string::npos;
    }));
}

TEST_CASE("a restart grants no further erasures of a drive that cannot be erased") {
    auto spec = restarting(BootMethod::Disk);
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    World world(spec);
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    bmc.profile().erase_fails = true;
    for (int times = 0; times < 12; ++times) {
        CHECK_FALSE(world.put_to_sleep(claim, minutes{5}));
        world.restart();
    }
    CHECK(erasures(bmc) <= 7);
    // The count ends with the erasure.
    bmc.profile().erase_fails = false;
    REQUIRE(world.put_to_sleep(claim, minutes{24 * 60}));
    CHECK(world.host("a").use.erasures == 0);
}

TEST_CASE("an override that a person set on a host in use is left alone") {
    World world(restarting(BootMethod::PXE));
    auto& bmc = world.add("a", {.only_continuous = true});
    auto claim = world.serving("c", "a");
    REQUIRE(bmc.boot_enabled() == "Continuous");
    // Ours has served.
    world.examine("a");
    CHECK(bmc.boot_target() == "None");
    const auto target = GENERATE(as<std::string>{}, "BiosSetup", "Pxe");
    bmc.set_override(target, "Once");
    const bool restarts = GENERATE(true, false);
    if (restarts) world.restart();
    world.examine("a");
    CHECK(bmc.boot_target() == target);
    CHECK(bmc.boot_enabled() == "Once");
}
