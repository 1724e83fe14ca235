// Tests requests to a BMC that offers less, or whose state somebody else has changed.
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using api::v1alpha1::BootMethod;

namespace {

api::v1alpha1::RedfishSpec booting(BootMethod method) {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = method;
    spec.boot.imageURL = "http://images.example.org/live.iso";
    return spec;
}

}  // namespace

TEST_CASE("a boot target that the BMC does not list is not asked for, and the message says what it lists") {
    World world(booting(BootMethod::UefiHttp));
    Profile profile;
    profile.boot_targets = {"None", "Pxe", "Hdd", "Cd"};
    auto& bmc = world.add("a", profile);
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("does not take boot target UefiHttp; it offers None, Pxe, Hdd, Cd") !=
          std::string::npos);
    CHECK(bmc.count("PATCH", "") == 0);
    CHECK(bmc.count("POST", "Reset") == 0);
}

TEST_CASE("a BMC that has lost its slots has none: the attempt ends instead of being tried for ever") {
    World world(booting(BootMethod::VirtualMedia));
    Profile profile;
    profile.has_media = false;
    world.add("a", profile);
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim, std::chrono::minutes{1}));
    CHECK(claim.outcome.starts_with("Unsupported: "));
    CHECK(claim.outcome.find("no slot for a CD image") != std::string::npos);
}

TEST_CASE("a boot from disk cancels what somebody else wanted the next boot to be") {
    for (const auto* target : {"Pxe", "Cd", "UefiHttp"}) {
        World world;
        auto& bmc = world.add("a");
        bmc.set_override(target, "Once");
        auto claim = world.claim("c");
        REQUIRE(world.wake(claim));
        CHECK(bmc.booted_from() == "Hdd");
    }
}

TEST_CASE("a boot from disk leaves an override alone that is one") {
    World world;
    auto& bmc = world.add("a");
    bmc.set_override("Hdd", "Continuous");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK(bmc.booted_from() == "Hdd");
    CHECK(bmc.boot_enabled() == "Continuous");
    CHECK(bmc.count("PATCH", "") == 0);
}
