// The operator undoes its own changes for a boot that was given up, and keeps what others prepared.
#include "providers/redfish/bmc/asset_tag.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using api::v1alpha1::BootMethod;
using redfish_simulator::Power;
using redfish_simulator::requests;
using redfish_simulator::SlotKind;

namespace {

constexpr const char* kImage = "https://images.example/live.iso";

api::v1alpha1::RedfishSpec booting(BootMethod method) {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = method;
    spec.boot.imageURL = kImage;
    return spec;
}

// Reserves a host for a claim, before any request to the host.
World::Claim reserve(World& world) {
    auto claim = world.claim("c");
    world.ensure(claim);
    world.ensure(claim);
    REQUIRE(world.host("a").use.stage == HostStage::reserved);
    return claim;
}

providers::InUseCheck never_joined() {
    return []() -> asio::awaitable<bool> { co_return false; };
}

}  // namespace

TEST_CASE("a claim that ends before it locked its host undoes nothing of the cluster that did") {
    auto spec = booting(BootMethod::PXE);
    spec.hostLock.field = api::v1alpha1::HostLockField::AssetTag;
    World world(spec);
    auto& bmc = world.add("a");
    auto claim = reserve(world);
    bmc.set_asset_tag(providers::redfish::lock_mark(
        {.cluster_id = "uid-of-another-cluster", .claim_uid = "uid-of-their-claim"}));
    bmc.set_override("Pxe", "Once");
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.boot_enabled() == "Once");
}

TEST_CASE("a look undoes nothing on a host that others use or that is in maintenance") {
    for (const bool is_on : {true, false}) {
        World world(booting(BootMethod::VirtualMedia));
        auto& bmc = world.add("a");
        if (is_on) bmc.set_power(Power::on);
        world.host("a").is_in_maintenance = !is_on;
        // The state does not show whose it is.
        bmc.media("Cd") = {"", true, {}};
        bmc.set_override("Cd", "Once");
        CHECK(world.examine("a").reason.empty());
        CHECK(bmc.media("Cd").inserted);
        CHECK(bmc.boot_enabled() == "Once");
        // Our own image shows whose it is, when the others are gone.
        bmc.set_power(Power::off);
        bmc.media("Cd") = {kImage, true, {}};
        world.host("a").is_in_maintenance = false;
        world.inventory.touch("a");
        CHECK(world.examine("a").reason.empty());
        CHECK_FALSE(bmc.media("Cd").inserted);
    }
}

TEST_CASE("a look undoes nothing of a claim that takes the host meanwhile") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a");
    world.odd("a").add({.is_for = [&](const base::HttpRequest& request) {
        const bool is_taken = world.host("a").use.owner.has_value();
        if (is_taken || request.target.find("VirtualMedia") == std::string::npos) return false;
        world.host("a").use.owner = providers::HostOwner{"c", "uid-of-claim-c"};
        bmc.media("Cd") = {kImage, true, {}};
        return false;
    }});
    CHECK(world.examine("a").reason.empty());
    CHECK(bmc.media("Cd").inserted);
}

TEST_CASE("a host that is left to who turned it on boots no image of ours next time") {
    for (const bool before_on : {true, false}) {
        World world(booting(BootMethod::PXE));
        auto& bmc = world.add("a");
        CHECK(world.examine("a").reason.empty());
        auto claim = reserve(world);
        if (before_on) {
            // Somebody else writes the host's object exactly when its boot is prepared.
            world.odd("a").add({.is_for = [&](const base::HttpRequest& request) {
                if (request.method == "PATCH") world.host("a").use.stage = HostStage::powering_off;
                return false;
            }});
            world.ensure(claim);
            REQUIRE(bmc.boot_enabled() == "Once");
            world.host("a").use.stage = HostStage::reserved;
        } else {
            bmc.set_override("Pxe", "Once");
            world.host("a").use.stage = HostStage::powering_on;
            world.host("a").use.is_prepared = true;
        }
        world.odd("a").clear();
        world.inventory.touch("a");
        bmc.set_power(Power::on);
        bmc.set_override("Pxe", "Once");
        if (before_on)
            world.ensure(claim);
        else
            CHECK(std::holds_alternative<providers::Gone>(world.remove(claim, never_joined())));
        REQUIRE_FALSE(world.host("a").use.owner);
        CHECK(world.examine("a").reason.empty());
        CHECK(bmc.boot_enabled() == "Disabled");
        CHECK(bmc.power() == Power::on);
    }
}
