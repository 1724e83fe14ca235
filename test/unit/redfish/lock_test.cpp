// Tests the lock that operators of other clusters can see. The owner of the mark has the host, and no foreign
// asset tag is replaced.
#include "providers/redfish/bmc/asset_tag.hpp"

#include <algorithm>

#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using providers::redfish::lock_mark;
using providers::redfish::meaning_of;
using providers::redfish::TagMeaning;
using redfish_simulator::Power;
using redfish_simulator::requests;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const std::string kOtherUuid = "4c4c4544-0042-3510-8054-b4c04f4d3133";

api::v1alpha1::RedfishSpec locked(std::vector<std::string> free_values = {}) {
    api::v1alpha1::RedfishSpec spec;
    spec.hostLock.field = api::v1alpha1::HostLockField::AssetTag;
    spec.hostLock.freeValues = std::move(free_values);
    return spec;
}

std::string theirs() {
    return lock_mark({.cluster_id = "uid-of-another-cluster", .claim_uid = "uid-of-their-claim"});
}

std::string reason_of(World& world, const std::string& host) {
    const auto report = world.examine(host);
    return report.lock ? report.lock->reason : "no lock";
}

// Loses requests that write the AssetTag and contain this text. The BMC executes none of them.
void lose_tag_writes(World& world, const std::string& host, const std::string& text,
                     std::optional<int> times) {
    world.odd(host).add({.is_for = requests("PATCH", "", text), .times = times, .is_lost = true});
}

bool has_announced(const World& world, const std::string& reason, const std::string& words) {
    return std::ranges::any_of(world.inventory.announced, [&](const std::string& line) {
        return line.starts_with(reason) && line.find(words) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("a mark names cluster and claim in what every BMC takes") {
    const auto mark = lock_mark({.cluster_id = "c1", .claim_uid = "u1"});
    CHECK(mark.size() == 29);
    CHECK(mark.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
    CHECK(mark == lock_mark({.cluster_id = "c1", .claim_uid = "u1"}));
    auto shouted = mark;
    for (auto& c : shouted) c = static_cast<char>(std::toupper(c));
    CHECK(meaning_of(shouted + "  ", mark, {}) == TagMeaning::mine);
    CHECK(meaning_of(lock_mark({.cluster_id = "c1", .claim_uid = "u2"}), mark, {}) == TagMeaning::own_claim);
    CHECK(meaning_of(theirs(), mark, {}) == TagMeaning::others);
    for (const auto* nothing : {"", "   "}) CHECK(meaning_of(nothing, mark, {}) == TagMeaning::free);
    for (const auto* tag : {"029056F", "Unknown", "kns-", "kns-12345678901g-123456789012"})
        CHECK(meaning_of(tag, mark, {}) == TagMeaning::inventory);
    CHECK(meaning_of("Unknown ", mark, {"---", "Unknown"}) == TagMeaning::free);
}

TEST_CASE("the mark stands on the host from before its boot is prepared until it is off again") {
    auto spec = locked();
    spec.boot.method = api::v1alpha1::BootMethod::PXE;
    World world(spec);
    auto& bmc = world.add("a");
    bool was_prepared = false;
    bmc.on_tag_write = [&](const std::string&) {
        was_prepared = was_prepared || bmc.boot_target() != "None";
    };
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK_FALSE(was_prepared);
    CHECK(bmc.asset_tag() == lock_mark(claim.identity));
    CHECK(reason_of(world, "a") == "Held");
    world.joined("a");
    world.pass(minutes{5});
    bmc.on_tag_write = [&](const std::string&) { CHECK(bmc.power() == Power::off); };
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("without being asked to the operator reads and writes no asset tag") {
    World world;
    auto& bmc = world.add("a", {.chassis_has_tag = true});
    bmc.set_asset_tag("029056F");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK(bmc.asset_tag() == "029056F");
    CHECK(reason_of(world, "a") == "no lock");
}

TEST_CASE("a host that bears another cluster's mark is theirs, whether it is on or off") {
    World world(locked());
    auto& bmc = world.add("a");
    bmc.set_asset_tag(theirs());
    CHECK(reason_of(world, "a") == "InUseByOthers");
    SECTION("its claim goes elsewhere and nothing of it is changed") {
        world.add("b", {.uuid = kOtherUuid});
        world.host("a").priority = 1;
        auto claim = world.claim("c");
        REQUIRE(world.wake(claim));
        CHECK(claim.record.machine_id == "b");
        CHECK(bmc.asset_tag() == theirs());
        CHECK(bmc.count("PATCH", "") == 0);
        CHECK(bmc.count("POST", "Reset") == 0);
        CHECK_FALSE(world.host("a").use.owner);
    }
    SECTION("unless its user gives it") {
        world.host("a").is_given = true;
        world.inventory.touch("a");
        auto claim = world.claim("c");
        REQUIRE(world.wake(claim));
        CHECK(bmc.asset_tag() == lock_mark(claim.identity));
    }
}

TEST_CASE("a host that was given back and that another cluster turned on since is no machine of the claim") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    SECTION("a process that died before it forgot the claim goes on") {
        REQUIRE(world.put_to_sleep(claim));
        bmc.set_asset_tag(theirs());
        bmc.set_power(Power::on);
        world.host("a").power_state = "On";
        CHECK(world.put_to_sleep(claim));
        CHECK(bmc.power() == Power::on);
        CHECK(bmc.asset_tag() == theirs());
    }
    SECTION("one whose object forgot it while it runs still bears the claim's mark") {
        world.host("a").use.owner.reset();
        world.host("a").power_state = "On";
        CHECK_FALSE(world.put_to_sleep(claim));
        CHECK(claim.outcome.find("OwnershipMismatch") == 0);
    }
}

TEST_CASE("somebody's own asset tag is not replaced") {
    World world(locked({"Unknown"}));
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    SECTION("it is told what would be right") {
        bmc.set_asset_tag("029056F");
        CHECK_FALSE(world.wake(claim));
        CHECK(claim.outcome.find("AssetTagTaken") == 0);
        CHECK(claim.outcome.find("\"029056F\"") != std::string::npos);
        CHECK(claim.outcome.find("spec.redfish.hostLock.freeValues") != std::string::npos);
        CHECK(bmc.asset_tag() == "029056F");
        CHECK(bmc.power() == Power::off);
        CHECK(reason_of(world, "a") == "AssetTagTaken");
    }
    SECTION("what its user says means nothing is") {
        bmc.set_asset_tag("Unknown");
        REQUIRE(world.wake(claim));
        CHECK(bmc.asset_tag() == lock_mark(claim.identity));
    }
}

TEST_CASE("the mark goes where the BMC keeps it") {
    Profile profile{.chassis_has_tag = true};
    bool of_chassis = true;
    SECTION("the system") {
        of_chassis = false;
    }
    SECTION("the chassis where the system has none") {
        profile.system_has_tag = false;
    }
    SECTION("the chassis where the system's is read only") {
        profile.refuses_system_tag = true;
    }
    SECTION("with ETags that match nothing") {
        of_chassis = false;
        profile.refuses_tags = true;
    }
    SECTION("with ETags demanded and hidden") {
        of_chassis = false;
        profile.demands_tag = profile.hides_tags = true;
    }
    SECTION("with null as the only way to clear it") {
        of_chassis = false;
        profile.clears_tag_by_null = true;
    }
    World world(locked());
    auto& bmc = world.add("a", profile);
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK(bmc.asset_tag(of_chassis) == lock_mark(claim.identity));
    CHECK(bmc.asset_tag(!of_chassis).empty());
    world.joined("a");
    world.pass(minutes{5});
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.asset_tag(of_chassis).empty());
}

TEST_CASE("a host that cannot bear a mark is not woken, and its look says so from then on") {
    Profile profile;
    std::string why;
    bool shows_at_once = false;
    SECTION("it has no field") {
        profile.system_has_tag = false;
        why = "shows no AssetTag";
        shows_at_once = true;
    }
    SECTION("its chassis is not its alone") {
        profile.system_has_tag = false;
        profile.chassis_has_tag = profile.chassis_is_shared = true;
        why = "shows no AssetTag";
        shows_at_once = true;
    }
    SECTION("it drops what it accepted") {
        profile.drops_tag = true;
        why = "it does not keep what it accepted";
    }
    SECTION("it keeps the beginning") {
        profile.tag_length = 10;
        why = "it keeps 10 of 29 characters";
    }
    SECTION("it refuses") {
        profile.refuses_system_tag = true;
        why = "read only";
    }
    World world(locked());
    auto& bmc = world.add("a", profile);
    CHECK((reason_of(world, "a") == "LockUnsupported") == shows_at_once);
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("LockUnsupported") == 0);
    CHECK(claim.outcome.find(why) != std::string::npos);
    CHECK(bmc.power() == Power::off);
    CHECK(bmc.asset_tag().empty());
    REQUIRE(world.put_to_sleep(claim));
    CHECK(reason_of(world, "a") == "LockUnsupported");
    const auto written = bmc.count("PATCH", "");
    world.pass(seconds{40});
    CHECK(reason_of(world, "a") == "LockUnsupported");
    CHECK(bmc.count("PATCH", "") == written);
}

TEST_CASE("a refused mark is tried again soon, and later and later if it is always refused") {
    World world(locked());
    world.add("a");
    auto& refuses = world.odd("a").add({.is_for = requests("PATCH", "", "AssetTag"),
                                        .instead = redfish_simulator::refusal(500, "InternalError")});
    const bool is_for_good = GENERATE(false, true);
    const auto refused = [&](const std::string& name) {
        world.host("a").readiness = providers::HostReadiness{true, ""};
        world.host("a").use.next_retry.reset();
        auto claim = world.claim(name);
        CHECK_FALSE(world.wake(claim));
        CHECK(claim.outcome.starts_with("LockUnsupported"));
        REQUIRE(world.put_to_sleep(claim));
        CHECK(reason_of(world, "a") == "LockUnsupported");
    };
    refused("first");
    world.pass(seconds{65});
    CHECK(reason_of(world, "a") == "Free");
    if (is_for_good) {
        for (int i = 0; i < 5; ++i) refused("c" + std::to_string(i));
        world.pass(minutes{20});
        CHECK(reason_of(world, "a") == "LockUnsupported");
        return;
    }
    refuses.times = 0;
    world.host("a").readiness = providers::HostReadiness{true, ""};
    auto second = world.claim("second");
    CHECK(world.wake(second));
    CHECK(reason_of(world, "a") == "Held");
}

TEST_CASE("a mark that a BMC shows too late is removed again") {
    World world(locked());
    auto& bmc = world.add("a");
    // The BMC shows the mark only after the operator has given up.
    bool shows = false;
    world.odd("a").add({.is_for = requests("GET", "/Systems/Blade1"),
                        .alter = [&](const base::HttpRequest& request, base::HttpResponse& response) {
                            if (!shows) redfish_simulator::merging(R"({"AssetTag":""})")(request, response);
                        }});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    REQUIRE(world.put_to_sleep(claim));
    shows = true;
    CHECK_FALSE(bmc.asset_tag().empty());
    world.examine("a");
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("a BMC that refuses to remove a mark keeps the host for minutes, not for ever") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    world.odd("a").add({.is_for = requests("PATCH", "", "AssetTag"),
                        .instead = redfish_simulator::refusal(503, "ServiceTemporarilyUnavailable")});
    CHECK_FALSE(world.put_to_sleep(claim, minutes{4}));
    CHECK(world.put_to_sleep(claim, minutes{10}));
    CHECK(has_announced(world, "LockLeft", "a"));
    world.odd("a").clear();
    world.host("a").power_state = "Off";
    world.examine("a");
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("a host that another cluster took is not erased, although its BMC had refused our mark") {
    auto spec = locked();
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    World world(spec);
    auto& bmc = world.add("a");
    auto& refuses = world.odd("a").add({.is_for = requests("PATCH", "", "AssetTag"),
                                        .instead = redfish_simulator::refusal(500, "InternalError")});
    auto first = world.claim("first");
    CHECK_FALSE(world.wake(first));
    REQUIRE(world.put_to_sleep(first));
    refuses.times = 0;
    world.host("a").readiness = providers::HostReadiness{true, ""};
    auto second = world.serving("second", "a");
    // Its BMC lost the mark, and another cluster has written its own since.
    bmc.set_power(Power::off);
    bmc.set_asset_tag(theirs());
    CHECK(world.put_to_sleep(second));
    CHECK(bmc.erased_drives() == 0);
    CHECK(bmc.asset_tag() == theirs());
}

namespace {

// OtherOperator is another cluster's operator. It reads the tag, writes if it was empty, and believes what it
// reads later.
struct OtherOperator {
    OtherOperator(World& world, Bmc& bmc, bool has_etags, base::Duration begins, base::Duration takes) {
        const auto start = world.clock.now() + begins;
        read = world.clock.call_at(start, [&] { is_free = bmc.asset_tag().empty(); });
        write = world.clock.call_at(start + takes, [this, &bmc, has_etags] {
            if (is_free && (!has_etags || bmc.asset_tag().empty())) bmc.set_asset_tag(theirs());
        });
        look = world.clock.call_at(start + takes + seconds{5}, [this, &bmc] {
            believes = bmc.asset_tag() == theirs() && bmc.power() == Power::off;
            if (believes) bmc.set_power(Power::on);
        });
    }
    bool is_free = false;
    bool believes = false;
    std::unique_ptr<base::Alarm> read;
    std::unique_ptr<base::Alarm> write;
    std::unique_ptr<base::Alarm> look;
};

}  // namespace

TEST_CASE("of two clusters that write at the same moment at most one believes to have the host") {
    Profile profile{.latency = std::chrono::milliseconds{200}};
    SECTION("with ETags") {}
    SECTION("with a BMC that ignores them") {
        profile.ignores_tags_version = true;
    }
    SECTION("with a BMC that has none") {
        profile.has_etags = false;
    }
    const bool has_etags = profile.has_etags && !profile.ignores_tags_version;
    int ours = 0;
    int others = 0;
    for (auto begins = std::chrono::milliseconds{0}; begins < seconds{12};
         begins += std::chrono::milliseconds{70}) {
        World world(locked());
        auto& bmc = world.add("a", profile);
        auto claim = world.claim("c");
        const OtherOperator other(world, bmc, has_etags, begins, std::chrono::milliseconds{200});
        const bool woke = world.wake(claim, minutes{2}) && world.host("a").use.woken;
        world.pass(seconds{20});
        INFO("it begins after " << begins.count() << " ms");
        CHECK_FALSE((woke && other.believes));
        CHECK((woke || bmc.count("POST", "Reset") == 0));
        if (woke) CHECK(bmc.asset_tag() == lock_mark(claim.identity));
        ours += woke ? 1 : 0;
        others += other.believes ? 1 : 0;
    }
    CHECK(ours > 50);
    CHECK(others > 5);
}

TEST_CASE("a mark that a BMC lost while the host serves is written again") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    int written = 0;
    bmc.on_tag_write = [&](const std::string&) { ++written; };
    REQUIRE(world.wake(claim));
    CHECK(written == 1);
    // The BMC is reset to its defaults while the host is in service.
    world.joined("a");
    bmc.set_asset_tag({});
    CHECK(reason_of(world, "a") == "Held");
    CHECK(bmc.asset_tag() == lock_mark(claim.identity));
    SECTION("but not over another cluster's, which is told") {
        bmc.set_asset_tag(theirs());
        CHECK(reason_of(world, "a") == "InUseByOthers");
        CHECK(bmc.asset_tag() == theirs());
    }
    SECTION("nor over an asset tag that somebody wrote meanwhile") {
        bmc.set_asset_tag("029056F");
        CHECK(reason_of(world, "a") == "AssetTagTaken");
        world.pass(minutes{5});
        CHECK(world.put_to_sleep(claim));
        CHECK(bmc.asset_tag() == "029056F");
    }
    SECTION("and a field that vanishes keeps nobody from going to sleep") {
        bmc.profile().system_has_tag = false;
        CHECK(reason_of(world, "a") == "LockUnsupported");
        world.pass(minutes{5});
        CHECK(world.put_to_sleep(claim));
    }
}

TEST_CASE("a mark of ours without a claim is taken back once the host is off, and not before") {
    World world(locked());
    auto& bmc = world.add("a");
    bmc.set_asset_tag(lock_mark({.cluster_id = world.config.cluster_id, .claim_uid = "uid-of-a-lost-claim"}));
    SECTION("it is off") {
        CHECK(reason_of(world, "a") == "Free");
        CHECK(bmc.asset_tag().empty());
    }
    SECTION("it is on") {
        bmc.set_power(Power::on);
        CHECK(reason_of(world, "a") == "Held");
        CHECK_FALSE(bmc.asset_tag().empty());
    }
    SECTION("it was on at the last look") {
        world.host("a").power_state = "On";
        world.inventory.touch("a");
        CHECK(reason_of(world, "a") == "Held");
        CHECK_FALSE(bmc.asset_tag().empty());
    }
    SECTION("another machine answers there") {
        bmc.profile().uuid = kOtherUuid;
        CHECK(reason_of(world, "a") == "Held");
        CHECK_FALSE(bmc.asset_tag().empty());
    }
    SECTION("the next claim may replace it") {
        auto claim = world.claim("c");
        REQUIRE(world.wake(claim));
        CHECK(bmc.asset_tag() == lock_mark(claim.identity));
    }
}

TEST_CASE("after a crash on any line the lock is taken once and comes off") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    int crashes = 0;
    SECTION("in the middle of waking") {
        for (int i = 0; i < 60 && bmc.power() == Power::off; ++i) {
            world.ensure(claim);
            world.restart();
            ++crashes;
            world.pass(seconds{1});
        }
        REQUIRE(world.wake(claim));
        CHECK(bmc.asset_tag() == lock_mark(claim.identity));
        world.joined("a");
        world.pass(minutes{5});
        // One process must see the host off twice.
        while (!std::holds_alternative<providers::Gone>(world.remove(claim))) {
            if (crashes++ % 10 == 0) world.restart();
            world.pass(seconds{10});
            REQUIRE(crashes < 300);
        }
    }
    SECTION("before anything but the mark was written, and the claim ends") {
        world.ensure(claim);
        world.ensure(claim);
        bmc.set_asset_tag(lock_mark(claim.identity));
        world.restart();
        CHECK(std::holds_alternative<providers::Gone>(world.remove(claim)));
        CHECK(reason_of(world, "a") == "Free");
    }
    CHECK(bmc.asset_tag().empty());
    CHECK_FALSE(world.host("a").use.owner);
}

TEST_CASE("a removal that goes on after its mark was taken off takes it off again") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    bool fails = false, has_failed = false;
    bmc.on_tag_write = [&](const std::string& tag) { fails = tag.empty() && !has_failed; };
    world.inventory.on_read = [&] {
        if (!std::exchange(fails, false)) return;
        has_failed = true;
        throw std::runtime_error("the API server does not answer");
    };
    for (bool is_gone = false; !is_gone; world.pass(seconds{10})) {
        try {
            is_gone = std::holds_alternative<providers::Gone>(world.remove(claim));
        } catch (const std::runtime_error&) {
        }
    }
    CHECK(has_failed);
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("a host that is left to its user while it is on bears no mark any more") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    world.joined("a");
    CHECK(world.run(world.provider->release(claim.identity, claim.record)));
    CHECK(bmc.asset_tag().empty());
    CHECK(bmc.power() == Power::on);
}

TEST_CASE("a reserved host that somebody else turned on bears no mark any more") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    world.ensure(claim);
    world.ensure(claim);
    bmc.set_asset_tag(lock_mark(claim.identity));
    bmc.set_power(Power::on);
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("host a was found on") != std::string::npos);
    CHECK(bmc.asset_tag().empty());
    CHECK(bmc.power() == Power::on);
}

TEST_CASE("a mark is off its host before the host is given back, also where the answer of the BMC is lost") {
    Profile profile;
    std::optional<int> times = 1;
    SECTION("the request was lost") {}
    SECTION("the answer was a refusal of the empty text") {
        profile.clears_tag_by_null = true;
    }
    SECTION("each answer to an empty text is lost") {
        times = std::nullopt;
    }
    World world(locked());
    auto& bmc = world.add("a", profile);
    auto claim = world.serving("c", "a");
    lose_tag_writes(world, "a", R"({"AssetTag":""})", times);
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.asset_tag().empty());
    CHECK_FALSE(has_announced(world, "LockLeft", ""));
}

TEST_CASE("a mark that a look takes back is off, also where the answer of the BMC is lost") {
    World world(locked());
    auto& bmc = world.add("a", {.clears_tag_by_null = true});
    bmc.set_asset_tag(lock_mark({.cluster_id = world.config.cluster_id, .claim_uid = "uid-of-a-lost-claim"}));
    lose_tag_writes(world, "a", R"({"AssetTag":""})", 1);
    CHECK(reason_of(world, "a") == "Free");
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("a mark that the BMC does not clear keeps no claim, and people are told") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    SECTION("it refuses") {
        bmc.profile().refuses_system_tag = true;
    }
    SECTION("it drops what it accepted") {
        bmc.profile().drops_tag = true;
    }
    SECTION("each answer is lost") {
        lose_tag_writes(world, "a", "AssetTag", std::nullopt);
    }
    REQUIRE(world.put_to_sleep(claim));
    CHECK(has_announced(world, "LockLeft", "clear the field on its BMC"));
    CHECK(reason_of(world, "a") == "NotReleased");
}

TEST_CASE("a lost answer to a mark does not prove that the BMC cannot hold one") {
    World world(locked());
    auto& bmc = world.add("a");
    lose_tag_writes(world, "a", "AssetTag", 2);
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK(bmc.asset_tag() == lock_mark(claim.identity));
    CHECK(reason_of(world, "a") == "Held");
    SECTION("and a lost mark of a host in service is not reported as held") {
        world.joined("a");
        bmc.set_asset_tag({});
        lose_tag_writes(world, "a", "AssetTag", 1);
        CHECK(reason_of(world, "a") == "Changing");
        CHECK(reason_of(world, "a") == "Held");
    }
}

TEST_CASE("a reserved host that is being deleted is given back only without the claim's mark") {
    World world(locked());
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    world.ensure(claim);
    world.ensure(claim);
    bmc.set_asset_tag(lock_mark(claim.identity));
    world.restart();
    world.odd("a").add(
        {.is_for = requests("", ""), .times = std::nullopt, .instead = redfish_simulator::refusal(503)});
    SECTION("it is being deleted, so no later look takes the mark back") {
        world.host("a").is_being_deleted = true;
        world.inventory.touch("a");
        CHECK_FALSE(world.put_to_sleep(claim));
        CHECK_FALSE(claim.outcome.empty());
        CHECK(world.host("a").use.owner);
        world.odd("a").clear();
        CHECK(world.put_to_sleep(claim));
    }
    SECTION("otherwise a later look does") {
        CHECK(world.put_to_sleep(claim));
        world.odd("a").clear();
        CHECK(reason_of(world, "a") == "Free");
    }
    CHECK(bmc.asset_tag().empty());
}

TEST_CASE("a host that is left to its user and deleted may keep its mark, and people are told") {
    World world(locked());
    world.add("a");
    auto claim = world.serving("c", "a");
    world.host("a").is_being_deleted = true;
    world.inventory.touch("a");
    world.odd("a").add(
        {.is_for = requests("", ""), .times = std::nullopt, .instead = redfish_simulator::refusal(503)});
    CHECK(world.run(world.provider->release(claim.identity, claim.record)));
    CHECK(has_announced(world, "LockLeft", "clear the field on its BMC"));
}
