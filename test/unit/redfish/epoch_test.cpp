// Tests the epoch of the operator's leader beside the lock of a host. Two operators of the same hosts find
// each other there, and none of them turns a host off before that is excluded.
#include <algorithm>

#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "providers/redfish/bmc/asset_tag.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using namespace std::chrono_literals;
using providers::EpochLook;
using providers::EpochRecord;
using providers::redfish::epoch_in;
using providers::redfish::lock_mark;
using providers::redfish::meaning_of;
using providers::redfish::TagMeaning;
using providers::redfish::with_epoch;
using redfish_simulator::Power;
using redfish_simulator::refusal;
using redfish_simulator::requests;

namespace {

const std::string kUuidOfB = "4c4c4544-0042-3510-8054-b4c04f4d3133";
const EpochRecord kOurs{"a1b2c3", ""};
const EpochRecord kOfBoth{"a1b2c3", "d4e5f6"};

api::v1alpha1::RedfishSpec locked() {
    api::v1alpha1::RedfishSpec spec;
    spec.hostLock.field = api::v1alpha1::HostLockField::AssetTag;
    return spec;
}

// Rack has two hosts, and each serves a claim.
struct Rack : World {
    explicit Rack(api::v1alpha1::RedfishSpec spec = locked()) : World(std::move(spec)) {
        add("a");
        add("b", {.uuid = kUuidOfB});
        host("a").priority = 1;
        inventory.touch("a");
        first = serving("first", "a");
        second = serving("second", "b");
        for (const auto* name : {"a", "b"}) host(name).is_reachable = true;
    }

    World::Claim first;
    World::Claim second;
};

EpochLook look(World& world, providers::Provider& provider) {
    auto* keeper = provider.capabilities().epoch_keeper;
    REQUIRE(keeper);
    return world.run(keeper->read_epoch({}));
}
EpochLook look(World& world) {
    return look(world, *world.provider);
}
void write(World& world, EpochLook seen, const EpochRecord& record) {
    world.run(world.provider->capabilities().epoch_keeper->write_epoch(*seen.slot, record));
}
// Returns the host that carries the record; empty: none.
std::string carrier(World& world) {
    const auto seen = look(world);
    return seen.slot ? seen.slot->machine.host : "";
}

// Copy is another operator of the same hosts, with objects of its own.
struct Copy {
    explicit Copy(World& world) : environment(world.environment) {
        inventory.objects = world.inventory.objects;
        environment.hosts = &inventory;
        provider = providers::redfish::make_redfish_provider(world.config, environment);
    }

    Inventory inventory;
    providers::ProviderEnvironment environment;
    std::unique_ptr<providers::Provider> provider;
};

}  // namespace

TEST_CASE("a mark with a record names cluster and claim, and is no longer than one without") {
    const auto mark = lock_mark({.cluster_id = "c1", .claim_uid = "u1"});
    CHECK_FALSE(epoch_in(mark));
    for (const auto& record : {kOurs, kOfBoth}) {
        const auto text = with_epoch(mark, record);
        CHECK(text.size() <= mark.size());
        CHECK(text.find_first_not_of("0123456789abcdef-", 4) == std::string::npos);
        CHECK(epoch_in(text) == record);
        CHECK(meaning_of(text, mark, {}) == TagMeaning::mine);
        CHECK(meaning_of(text, lock_mark({.cluster_id = "c1", .claim_uid = "u2"}), {}) ==
              TagMeaning::own_claim);
        CHECK(meaning_of(text, lock_mark({.cluster_id = "c2", .claim_uid = "u1"}), {}) == TagMeaning::others);
        auto shouted = text;
        for (auto& c : shouted) c = static_cast<char>(std::toupper(c));
        CHECK(epoch_in(shouted + " ") == record);
        CHECK(meaning_of(shouted + " ", mark, {}) == TagMeaning::mine);
        CHECK(with_epoch(text, kOurs) == with_epoch(mark, kOurs));
    }
    CHECK(with_epoch(mark, {"a1b2c3999999", ""}) == with_epoch(mark, kOurs));
    for (const auto* tag : {"kns-12345678-", "kns-12345678-1234", "kns-12345678-1234a1b2c",
                            "kns-12345678-1234a1b2c3d", "kns-12345678-1234a1b2cx", "kns-1234567-12345a1b2c3"})
        CHECK(meaning_of(tag, mark, {}) == TagMeaning::inventory);
}

TEST_CASE("the first host that is on carries the record beside its lock, until it is given back") {
    Rack world;
    auto& bmc = world.bmc("a");
    const auto first = look(world);
    REQUIRE(first.slot);
    CHECK(first.slot->machine.host == "a");
    CHECK(first.slot->claim_uid == world.first.identity.claim_uid);
    CHECK_FALSE(first.slot->record);
    CHECK_FALSE(first.is_empty);
    write(world, first, kOurs);
    CHECK(bmc.asset_tag() == with_epoch(lock_mark(world.first.identity), kOurs));
    CHECK(world.bmc("b").asset_tag() == lock_mark(world.second.identity));
    const auto later = look(world);
    CHECK(later.slot->record == kOurs);
    CHECK(later.slot->claim_uid == world.first.identity.claim_uid);
    write(world, later, kOfBoth);
    CHECK(look(world).slot->record == kOfBoth);
    CHECK(world.examine("a").lock->reason == "Held");
    CHECK(epoch_in(bmc.asset_tag()) == kOfBoth);
    REQUIRE(world.put_to_sleep(world.first));
    CHECK(bmc.asset_tag().empty());
    CHECK(carrier(world) == "b");
}

TEST_CASE("a look asks only BMCs of hosts that may carry the record, and writes nothing") {
    Rack world;
    REQUIRE(world.put_to_sleep(world.first));
    look(world);
    const auto asked = world.bmc("a").count("GET", "");
    const auto written = world.bmc("b").count("PATCH", "");
    CHECK(carrier(world) == "b");
    CHECK(world.bmc("a").count("GET", "") == asked);
    CHECK(world.bmc("b").count("PATCH", "") == written);
    // It carries the record once a claim has it again.
    world.host("a").readiness = providers::HostReadiness{true, ""};
    world.inventory.touch("a");
    auto claim = world.serving("third", "a");
    CHECK(carrier(world) == "a");
}

TEST_CASE("a copy with other claims reads the same host, and keeps its record") {
    Rack world;
    write(world, look(world), kOurs);
    Copy copy(world);
    SECTION("it knows of no claim on the host") {
        copy.inventory.objects.at("a").use = {};
        copy.inventory.objects.at("a").power_state = "Off";
        CHECK(look(world, *copy.provider).slot->claim_uid.empty());
    }
    SECTION("it knows of another one, whose mark it writes") {
        copy.inventory.objects.at("a").use.owner->claim_uid = "uid-of-another-claim";
        CHECK(look(world, *copy.provider).slot->claim_uid.empty());
        world.run(copy.provider->capabilities().host_examiner->examine_host("a"));
        CHECK(look(world, *copy.provider).slot->claim_uid == "uid-of-another-claim");
    }
    const auto seen = look(world, *copy.provider);
    CHECK(seen.slot->machine.host == "a");
    CHECK(seen.slot->record == kOurs);
    world.run(copy.provider->capabilities().epoch_keeper->write_epoch(*seen.slot, {"d4e5f6", ""}));
    CHECK(look(world).slot->record == EpochRecord{"d4e5f6", ""});
}

TEST_CASE("a record is not written over one that another operator wrote since the look") {
    Rack world;
    const auto seen = look(world);
    world.bmc("a").set_asset_tag(with_epoch(lock_mark(world.first.identity), kOfBoth));
    CHECK_THROWS_AS(write(world, seen, kOurs), providers::ProviderError);
    CHECK(look(world).slot->record == kOfBoth);
}

TEST_CASE("a BMC that does not take the record keeps the lock, and another host carries the record") {
    Rack world;
    SECTION("it refuses it") {
        world.odd("a").add({.is_for = requests("PATCH", "", "AssetTag"), .instead = refusal(400)});
    }
    SECTION("it drops it") {
        world.bmc("a").profile().drops_tag = true;
    }
    SECTION("it cuts it") {
        world.bmc("a").profile().tag_length = 20;
        // It can still show the mark that it has.
        world.bmc("a").on_tag_write = [&](const std::string& tag) {
            world.bmc("a").profile().tag_length = epoch_in(tag) ? 20 : 63;
        };
    }
    write(world, look(world), kOurs);
    CHECK(world.bmc("a").asset_tag() == lock_mark(world.first.identity));
    CHECK(look(world).slot->record == kOurs);
    CHECK(carrier(world) == "b");
    const auto lock = world.examine("a").lock;
    CHECK(lock->reason == "Held");
    CHECK_THAT(lock->message, Catch::Contains("but not the epoch of the operator"));
    // If no host takes it, nobody waits for a sign there.
    world.bmc("b").set_asset_tag(lock_mark(world.second.identity));
    world.bmc("b").profile().drops_tag = true;
    CHECK_THROWS_WITH(write(world, look(world), kOurs),
                      Catch::Contains("does not take the operator's epoch"));
    const auto none = look(world);
    CHECK_FALSE(none.slot);
    CHECK_FALSE(none.is_empty);
    // Firmware may have been updated.
    world.odd("a").clear();
    world.pass(25h);
    CHECK(carrier(world) == "a");
}

TEST_CASE("a BMC that cannot take the record now is tried for some minutes, and then another host has it") {
    Rack world;
    constexpr int kLost = 0;
    const int status = GENERATE(0, 403, 409, 423, 503);
    OddAnswer odd{.is_for = requests("PATCH", "", "AssetTag"), .is_lost = status == kLost};
    if (status != kLost) odd.instead = refusal(status);
    world.odd("a").add(std::move(odd));
    CHECK_THROWS_WITH(write(world, look(world), kOurs), Catch::Contains("writing the operator's epoch"));
    CHECK(carrier(world) == "a");
    world.pass(4min);
    write(world, look(world), kOurs);
    REQUIRE(carrier(world) == "b");
    CHECK(look(world).slot->record == kOurs);
    CHECK(world.bmc("a").asset_tag() == lock_mark(world.first.identity));
    // It stays where it is, also when the first host would take it.
    world.odd("a").clear();
    world.pass(25h);
    CHECK(carrier(world) == "b");
}

TEST_CASE("a rack whose BMCs take no record holds removals for one wait, however many hosts it has") {
    World world(locked());
    constexpr int kHosts = 8;
    for (int i = 0; i < kHosts; ++i) {
        const auto name = "h" + std::to_string(i);
        world.add(name, {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d400" + std::to_string(i)});
        world.serving("claim-of-" + name, name);
        world.host(name).is_reachable = true;
    }
    const int status = GENERATE(400, 403, 503);
    for (auto& [name, host] : world.inventory.objects)
        world.odd(name).add({.is_for = requests("PATCH", "", "AssetTag"), .instead = refusal(status)});
    // The leader looks once a minute. It may remove machines two minutes after no host can take its record.
    const auto begin = world.clock.now();
    int without_slot = 0;
    while (without_slot < 3 && world.clock.now() - begin < 60min) {
        const auto seen = look(world);
        if (!seen.slot) ++without_slot;
        if (seen.slot) CHECK_THROWS_AS(write(world, seen, kOurs), providers::ProviderError);
        world.pass(1min);
    }
    CHECK(world.clock.now() - begin <= 10min);
}

TEST_CASE("a BMC that refused the record once shows that of another operator, and is soon tried again") {
    Rack world;
    world.odd("a").add({.is_for = requests("PATCH", "", "AssetTag"), .times = 1, .instead = refusal(400)});
    write(world, look(world), kOurs);
    REQUIRE(carrier(world) == "b");
    SECTION("the other operator writes there") {
        world.bmc("a").set_asset_tag(with_epoch(lock_mark(world.first.identity), {"d4e5f6", ""}));
        const auto seen = look(world);
        REQUIRE(seen.slot);
        CHECK(seen.slot->machine.host == "a");
        CHECK(seen.slot->record == EpochRecord{"d4e5f6", ""});
    }
    SECTION("it takes the record a little later") {
        // The other host is given back.
        REQUIRE(world.put_to_sleep(world.second));
        world.pass(90s);
        CHECK(carrier(world) == "a");
        CHECK_THAT(world.examine("a").lock->message, !Catch::Contains("epoch"));
    }
}

TEST_CASE("a host with a record comes before one without") {
    Rack world;
    world.bmc("b").set_asset_tag(with_epoch(lock_mark(world.second.identity), {"d4e5f6", ""}));
    CHECK(carrier(world) == "b");
}

TEST_CASE("a tag that somebody else wrote in the place of the record is left alone") {
    Rack world;
    auto& bmc = world.bmc("a");
    const auto theirs = lock_mark({.cluster_id = "another", .claim_uid = "one"});
    world.odd("a").add({.is_for = requests("PATCH", "", "AssetTag"),
                        .times = 1,
                        .alter = [&](const auto&, auto&) { bmc.set_asset_tag(theirs); }});
    write(world, look(world), kOurs);
    CHECK(bmc.asset_tag() == theirs);
    CHECK(carrier(world) == "b");
    CHECK(look(world).slot->record == kOurs);
}

TEST_CASE("a reserved host with a dead BMC hides no record, and its claim can be released") {
    World world(locked());
    world.add("a");
    auto claim = world.claim("c");
    world.ensure(claim);
    world.ensure(claim);
    REQUIRE(world.host("a").use.stage == HostStage::reserved);
    world.host("a").is_reachable = false;
    world.odd("a").add({.is_for = requests("", ""), .instead = refusal(503)});
    world.environment.why_not_destroy = [](const std::string&) {
        return providers::RemovalHold{"the leader is new", false};
    };
    world.restart();
    const auto seen = look(world);
    CHECK_FALSE(seen.slot);
    CHECK_FALSE(seen.is_empty);
    CHECK(world.run(world.provider->release(claim.identity, claim.record)));
    CHECK_FALSE(world.host("a").use.owner);
}

TEST_CASE("a host that does not answer is waited for, and later passed over") {
    Rack world;
    const auto silence = [&](const std::string& host) {
        world.odd(host).add({.is_for = [](const auto&) { return true; }, .instead = refusal(503)});
    };
    silence("a");
    CHECK_THROWS_AS(look(world), providers::ProviderError);
    SECTION("for some minutes") {
        world.pass(4min);
        CHECK(carrier(world) == "b");
    }
    SECTION("until its own look says so") {
        world.host("a").is_reachable = false;
        const auto asked = world.bmc("a").count("GET", "");
        CHECK(carrier(world) == "b");
        CHECK(world.bmc("a").count("GET", "") == asked);
    }
    world.odd("a").clear();
    world.host("a").is_reachable = true;
    world.pass(10min);
    CHECK(carrier(world) == "a");
    SECTION("but with no other host that answers nothing is known") {
        silence("a");
        silence("b");
        for (const auto* name : {"a", "b"}) world.host(name).is_reachable = false;
        CHECK_THROWS_WITH(look(world), Catch::Contains("no host with a claim can be read"));
    }
}

TEST_CASE("a provider whose hosts bear no mark has no machine") {
    World world(locked());
    world.add("a");
    world.host("a").is_reachable = true;
    const auto none = look(world);
    CHECK_FALSE(none.slot);
    CHECK(none.is_empty);
}

TEST_CASE("without a lock there is no place for an epoch, and no removal waits for one") {
    Rack world({});
    world.environment.why_not_destroy = [](const std::string&) {
        return providers::RemovalHold{"the leader is new", false};
    };
    CHECK_FALSE(world.provider->capabilities().epoch_keeper);
    CHECK(world.put_to_sleep(world.first));
}

TEST_CASE("while another operator may own the same hosts, none is turned off, erased or released") {
    auto spec = locked();
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    Rack world(spec);
    providers::RemovalHold hold{"the leader is new", false};
    world.environment.why_not_destroy = [&](const std::string& uid) {
        CHECK(uid == world.config.uid);
        return hold;
    };
    auto& bmc = world.bmc("a");
    const auto requested = bmc.count("POST", "Actions");
    const auto waits = world.remove(world.first);
    CHECK_THAT(std::get<providers::RemovalInProgress>(waits).message, Catch::Contains("the leader is new"));
    hold.needs_person = true;
    const auto held = world.remove(world.first);
    CHECK(std::get<providers::RemovalBlocked>(held).reason == "RemovalHeld");
    CHECK_FALSE(world.put_to_sleep(world.first));
    CHECK_THROWS_WITH(world.run(world.provider->release(world.first.identity, world.first.record)),
                      Catch::Contains("the leader is new"));
    CHECK_THROWS_WITH(world.run(world.provider->switch_power(world.first.identity, world.first.record,
                                                             providers::Power::off, {})),
                      Catch::Contains("the leader is new"));
    // Somebody else turned it off. Its drives may be somebody's.
    bmc.set_power(Power::off);
    CHECK_FALSE(world.put_to_sleep(world.first));
    CHECK(bmc.count("POST", "Actions") == requested);
    CHECK(bmc.asset_tag() == lock_mark(world.first.identity));
    hold = {};
    CHECK(world.put_to_sleep(world.first));
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE(
    "while another operator may own the same hosts, marks and boots that may be its own are left alone") {
    auto spec = locked();
    spec.boot.method = api::v1alpha1::BootMethod::PXE;
    World world(spec);
    auto& bmc = world.add("a");
    providers::RemovalHold hold{"another operator", true};
    world.environment.why_not_destroy = [&](const std::string&) { return hold; };
    const auto mark =
        lock_mark({.cluster_id = world.config.cluster_id, .claim_uid = "uid-of-a-claim-of-the-other-one"});
    bmc.set_asset_tag(mark);
    bmc.set_override("Pxe", "Once");
    SECTION("by the looks at the host") {
        CHECK(world.examine("a").lock->reason == "Held");
    }
    SECTION("by the looks at a host that serves another claim here") {
        bmc.set_asset_tag("");
        bmc.set_override("", "Disabled");
        hold = {};
        world.serving("c", "a");
        hold = {"another operator", true};
        bmc.set_asset_tag(mark);
        CHECK(world.examine("a").lock->reason == "Held");
        bmc.set_override("Pxe", "Once");
    }
    SECTION("by a claim that ends before anything was done for it") {
        auto claim = world.claim("c");
        world.ensure(claim);
        world.ensure(claim);
        REQUIRE(world.host("a").use.stage == HostStage::reserved);
        CHECK_FALSE(world.put_to_sleep(claim));
    }
    SECTION("by a claim that finds the host on") {
        bmc.set_power(Power::on);
        bmc.set_override("Pxe", "Once");
        auto claim = world.claim("c");
        CHECK_FALSE(world.wake(claim));
    }
    CHECK(bmc.asset_tag() == mark);
    CHECK(bmc.boot_enabled() == "Once");
}

TEST_CASE("another operator that shows itself during a step is in time") {
    auto spec = locked();
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    Rack world(spec);
    providers::RemovalHold hold;
    world.environment.why_not_destroy = [&](const std::string&) { return hold; };
    const providers::RemovalHold found{"another operator", true};
    auto& bmc = world.bmc("a");
    SECTION("before the host is asked to shut down") {
        const auto resets = bmc.count("POST", "ComputerSystem.Reset");
        world.remove(world.first, [&]() -> asio::awaitable<bool> {
            hold = found;
            co_return false;
        });
        REQUIRE_FALSE(hold.why.empty());
        CHECK(bmc.count("POST", "ComputerSystem.Reset") == resets);
    }
    SECTION("before a drive is erased") {
        world.odd("a").add(
            {.is_for = requests("GET", "/Storage/1"), .alter = [&](const auto&, auto&) { hold = found; }});
        CHECK_FALSE(world.put_to_sleep(world.first));
        REQUIRE_FALSE(hold.why.empty());
        CHECK(bmc.count("POST", "SecureErase") == 0);
        CHECK(world.host("a").use.erasures == 0);
    }
}
