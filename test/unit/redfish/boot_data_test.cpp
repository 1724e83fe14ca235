// Tests boot data of a claim as a second virtual medium beside the image that the host boots.
#include "providers/boot_sources.hpp"
#include "providers/machine.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using redfish_simulator::Power;
using redfish_simulator::Slot;
using redfish_simulator::SlotKind;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const std::string kImage = "https://images.example/live.iso";
const std::string kKey = "abc123-00112233445566778899aabbccddeeff";
const std::string kPlace = "http://10.0.0.9:8082/" + kKey + "/";
const std::string kSeed = kPlace + "seed.iso";

class Served final : public providers::ServedBootData {
public:
    asio::awaitable<std::string> iso_image(providers::MachineRecord) override { co_return ""; }
    asio::awaitable<std::string> url(providers::MachineRecord placed) override {
        asked_for.push_back(placed.host);
        co_return kPlace;
    }
    std::vector<std::string> asked_for;
};

api::v1alpha1::RedfishSpec booting_media() {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = api::v1alpha1::BootMethod::VirtualMedia;
    spec.boot.imageURL = kImage;
    return spec;
}

Profile with_slots(std::vector<Slot> slots) {
    Profile profile;
    profile.slots = std::move(slots);
    return profile;
}

// Seeded has one host, and a claim whose pool asks for boot data.
struct Seeded : World {
    explicit Seeded(std::vector<Slot> slots)
        : World(booting_media()), bmc(add("a", with_slots(std::move(slots)))), claim(World::claim("c")) {
        boot_image = &served;
    }

    // Returns "running", or the reason and message of the failure.
    std::string wake() {
        World::wake(claim);
        return claim.outcome;
    }

    Served served;
    Bmc& bmc;
    Claim claim;
};

const Slot kCd{"Cd"};
const Slot kSecondCd{"Cd2"};
const Slot kStick{"Usb"};
const Slot kUseless{"Cd2", SlotKind::upload_only};

}  // namespace

TEST_CASE(
    "a host boots the image with its claim's boot data in another slot, and both are ejected at the end") {
    struct Case {
        std::vector<Slot> slots;
        std::string data;
    };
    for (const auto& each : {Case{{kCd, kSecondCd}, "Cd2"}, Case{{kCd, kStick}, "Usb"},
                             Case{{kStick, kCd}, "Usb"}, Case{{kStick, kCd, kSecondCd}, "Cd2"}}) {
        Seeded world(each.slots);
        CHECK(world.wake() == "running");
        INFO(each.data);
        CHECK(world.bmc.booted_from() == "Cd");
        CHECK(world.bmc.media("Cd").image == kImage);
        CHECK(world.bmc.media(each.data).image == kSeed);
        CHECK(world.bmc.media(each.data).inserted);
        CHECK(world.served.asked_for == std::vector<std::string>{"a"});
        world.joined("a");
        world.pass(minutes{5});
        REQUIRE(world.put_to_sleep(world.claim));
        CHECK_FALSE(world.bmc.media("Cd").inserted);
        CHECK_FALSE(world.bmc.media(each.data).inserted);
    }
}

TEST_CASE("whatever an operator that died has left in the slots, the host boots with its own boot data") {
    Seeded world({kCd, kSecondCd});
    for (int i = 0; i < 2; ++i) world.ensure(world.claim);
    CHECK(world.bmc.power() == Power::off);
    world.bmc.media("Cd") = {kSeed, true, {}};
    world.bmc.media("Cd2") = {"https://images.example/of-another-claim.iso", true, {}};
    world.restart();
    CHECK(world.wake() == "running");
    CHECK(world.bmc.media("Cd").image == kImage);
    CHECK(world.bmc.media("Cd2").image == kSeed);
}

TEST_CASE("without a second slot the attempt ends with what would be right, and the host stays off") {
    Seeded world({kCd});
    const auto outcome = world.wake();
    CHECK(outcome.find("Unsupported") == 0);
    CHECK(outcome.find("no second slot") != std::string::npos);
    CHECK(outcome.find("bootstrap.method None") != std::string::npos);
    CHECK(world.bmc.power() == Power::off);
}

TEST_CASE("a USB stick is for data alone: no image is booted from it") {
    Seeded world({kStick});
    CHECK(world.wake().find("no slot for a CD image") != std::string::npos);
}

TEST_CASE("the address of boot data is told by no message, whatever the BMC says, nor after a restart") {
    Seeded world({kCd, kUseless});
    const auto outcome = world.wake();
    REQUIRE(world.bmc.count("POST", "Cd2/Actions/VirtualMedia.InsertMedia") > 0);
    CHECK(outcome.find("--bootstrap-advertise-url") != std::string::npos);
    CHECK(outcome.find(kKey) == std::string::npos);

    world.bmc.media("Cd2") = {kSeed, true, {}};
    world.restart();
    world.joined("a");
    CHECK_FALSE(world.put_to_sleep(world.claim));
    CHECK(world.claim.outcome.find("cannot eject ***") != std::string::npos);
    CHECK(world.claim.outcome.find(kKey) == std::string::npos);
}
