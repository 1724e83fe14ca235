// Missing, late, empty and refused answers prove nothing bad about a host or its Node.
#include <set>
#include <vector>

#include "providers/capabilities.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using redfish_simulator::merging;
using redfish_simulator::Power;
using redfish_simulator::refusal;
using redfish_simulator::requests;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* kSystem = "/Systems/Blade1";

std::size_t forced(World& world, const std::string& host) {
    std::size_t count = 0;
    for (const auto& exchange : world.bmc(host).exchanges())
        count += exchange.body.find("ForceOff") != std::string::npos ? 1 : 0;
    return count;
}

base::HttpResponse empty_answer() {
    base::HttpResponse response;
    response.status = 200;
    return response;
}

// Uses the odd answer for a while after the request On.
void after_on(World& world, const std::string& host, OddAnswer answer, base::Duration duration) {
    auto since = std::make_shared<std::optional<base::TimePoint>>();
    answer.is_for = [&world, since, duration,
                     is_for = std::move(answer.is_for)](const base::HttpRequest& request) {
        if (request.body.find("\"On\"") != std::string::npos) *since = world.clock.now();
        return *since && world.clock.now() - **since < duration && is_for(request);
    };
    world.odd(host).add(std::move(answer));
}

}  // namespace

TEST_CASE("an empty answer is asked for again, and is no system without identity") {
    World world;
    world.add("a");
    world.odd("a").add({.is_for = requests("GET", kSystem), .times = 1, .instead = empty_answer()});
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    CHECK(forced(world, "a") == 0);
}

TEST_CASE("no system UUID for a while costs neither the attempt nor the power") {
    World world;
    world.add("a");
    after_on(world, "a", {.is_for = requests("GET", kSystem), .alter = merging(R"({"UUID":null})")},
             minutes{2});
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    CHECK(forced(world, "a") == 0);
}

TEST_CASE("a BMC that never tells the system UUID again ends the attempt after minutes") {
    World world;
    world.add("a");
    world.odd("a").add({.is_for = requests("GET", kSystem), .alter = merging(R"({"UUID":null})")});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.starts_with("NoSystemUUID: "));
}

TEST_CASE("a host in use whose BMC tells no system UUID is turned off when it does again") {
    World world;
    world.add("a");
    auto claim = world.serving("c", "a");
    auto& answer =
        world.odd("a").add({.is_for = requests("GET", kSystem), .alter = merging(R"({"UUID":null})")});
    CHECK_FALSE(world.put_to_sleep(claim, minutes{2}));
    CHECK(world.bmc("a").power() == Power::on);
    CHECK(claim.outcome.find("OwnershipMismatch") == std::string::npos);
    answer.times = 0;
    CHECK(world.put_to_sleep(claim, minutes{5}));
}

TEST_CASE("a Ready Node is proof that something runs, not that its BMC says so") {
    for (const auto* lie : {R"({"PowerState":"Off"})", R"({"PowerState":null})"}) {
        World world;
        auto& bmc = world.add("a");
        after_on(world, "a", {.is_for = requests("GET", kSystem), .alter = merging(lie)}, seconds{150});
        world.inventory.ready_nodes.insert("a");
        auto claim = world.claim("c");
        const auto begin = world.clock.now();
        CHECK(world.wake(claim));
        CHECK(world.clock.now() - begin >= seconds{150});
        CHECK(forced(world, "a") == 0);
        CHECK(bmc.power() == Power::on);
    }
}

TEST_CASE("without a Node the attempt ends when the time for turning on is over") {
    World world;
    world.add("a");
    after_on(world, "a", {.is_for = requests("GET", kSystem), .alter = merging(R"({"PowerState":"Off"})")},
             minutes{30});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.starts_with("PowerOnFailed: "));
}

TEST_CASE(
    "a host with a Ready Node is asked to shut down before its power is cut, whatever its BMC reports") {
    World world;
    auto& bmc = world.add("a");
    after_on(world, "a", {.is_for = requests("GET", kSystem), .alter = merging(R"({"PowerState":"Off"})")},
             seconds{200});
    world.inventory.ready_nodes.insert("a");
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim, seconds{30}));
    bmc.on_change = [&](Power power) {
        if (power == Power::off) world.inventory.ready_nodes.clear();
    };
    CHECK(world.put_to_sleep(claim));
    CHECK(forced(world, "a") == 0);
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("a system document without its reset action says nothing about what the BMC can do") {
    constexpr const char* kHalf = R"({"Actions":null})";
    World world;
    auto& bmc = world.add("a");
    SECTION("at a removal the host is asked to shut down as soon as the action is there") {
        auto claim = world.serving("c", "a");
        auto& answer = world.odd("a").add({.is_for = requests("GET", kSystem), .alter = merging(kHalf)});
        CHECK_FALSE(world.put_to_sleep(claim, minutes{2}));
        CHECK(bmc.power() == Power::on);
        CHECK_THAT(claim.outcome, Catch::Contains("shows no reset action"));
        answer.times = 0;
        REQUIRE(world.put_to_sleep(claim));
        CHECK(forced(world, "a") == 0);
        CHECK(world.inventory.announced.empty());
    }
    SECTION("right before On it costs no attempt") {
        int reads = 0;
        world.odd("a").add({.is_for =
                                [&reads](const base::HttpRequest& request) {
                                    return requests("GET", kSystem)(request) && ++reads == 2;
                                },
                            .alter = merging(kHalf)});
        auto claim = world.claim("c");
        CHECK(world.wake(claim));
        CHECK(reads >= 2);
        CHECK(world.host("a").use.failures == 0);
    }
    SECTION("a host that never shows it is left for another one") {
        world.odd("a").add({.is_for = requests("GET", kSystem), .alter = merging(kHalf)});
        auto claim = world.claim("c");
        CHECK_FALSE(world.wake(claim));
        CHECK_THAT(claim.outcome, Catch::Contains("shows no reset action"));
        CHECK(world.put_to_sleep(claim));
        CHECK(world.host("a").use.failures == 1);
        CHECK(bmc.count("POST", "Reset") == 0);
    }
}

TEST_CASE("a part that cannot be read costs that part, and is asked for again at the next look") {
    for (const int status : {401, 403, 503}) {
        for (const auto* part : {"EthernetInterfaces", "Storage", "Processors", "NetworkAdapters"}) {
            World world;
            world.add("a", {.tells_processors = true, .watts = 300, .port_gbps = {25, 25}});
            auto& answer = world.odd("a").add({.is_for = requests("GET", part), .instead = refusal(status)});
            const auto report = world.examine("a");
            INFO(status << " " << part << ": " << report.message);
            CHECK(report.reason.empty());
            CHECK(report.power_state == "Off");
            REQUIRE_FALSE(report.flaws.empty());
            CHECK(report.flaws.front().starts_with(std::string(part) + ": "));
            CHECK_FALSE(report.unread.empty());
            answer.times = 0;
            world.pass(minutes{10});
            CHECK(world.examine("a").flaws.empty());
        }
    }
}

TEST_CASE("a part that can never be read has the others read less and less often") {
    World world;
    auto& bmc = world.add("a", {.tells_processors = true});
    world.odd("a").add({.is_for = requests("GET", "Storage"), .instead = refusal(403)});
    for (int look = 0; look < 144; ++look) {
        CHECK(world.examine("a").reason.empty());
        world.pass(minutes{10});
    }
    CHECK(bmc.count("GET", "/Processors") < 40);
}

TEST_CASE("a part that does not answer keeps a look waiting once an hour") {
    World world;
    auto& bmc = world.add("a", {.port_gbps = {25}});
    world.odd("a").add({.is_for = requests("GET", "NetworkAdapters"), .delay = seconds{75}});
    CHECK(world.examine("a").reason.empty());
    const auto begin = world.clock.now();
    for (int look = 0; look < 4; ++look) {
        world.pass(minutes{10});
        const auto report = world.examine("a");
        CHECK(report.reason.empty());
        CHECK(report.flaws.size() == 1);
    }
    CHECK(world.clock.now() - begin < minutes{41});
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("what measures the power of a host may be silent") {
    World world;
    auto& bmc = world.add("a", {.watts = 300});
    bmc.set_power(Power::on);
    world.odd("a").add({.is_for = requests("GET", "EnvironmentMetrics"), .instead = refusal(503)});
    const auto report = world.examine("a");
    CHECK(report.reason.empty());
    CHECK_FALSE(report.power_watts);
}

TEST_CASE("a part that stays silent is told in the same words each time") {
    World world;
    world.add("a");
    int asked = 0;
    world.odd("a").add({.is_for =
                            [&asked](const base::HttpRequest& request) {
                                const bool is_it = request.target.ends_with("/Processors");
                                if (is_it) ++asked;
                                return is_it;
                            },
                        .is_lost = true});
    std::set<std::vector<std::string>> said;
    for (int look = 0; look < 12; ++look) {
        said.insert(world.examine("a").flaws);
        world.pass(minutes{15});
    }
    REQUIRE(said.size() == 1);
    REQUIRE(said.begin()->size() == 1);
    CHECK_THAT(said.begin()->front(), Catch::Contains("it is asked again later"));
    CHECK(asked >= 2);
}

TEST_CASE("a resource that is served compressed only leaves the others as they are") {
    World world;
    world.add("a");
    const auto asks_for_identity = [](const base::HttpRequest& request) {
        return request.headers.find("Accept-Encoding") == "identity";
    };
    world.odd("a").add({.is_for =
                            [=](const base::HttpRequest& request) {
                                return asks_for_identity(request) &&
                                       request.target.find("/Processors/") != std::string::npos;
                            },
                        .instead = refusal(406)});
    world.odd("a").add(
        {.is_for = [=](const base::HttpRequest& request) { return !asks_for_identity(request); },
         .alter =
             [](const base::HttpRequest&, base::HttpResponse& response) {
                 response.headers.set("Content-Encoding", "gzip");
                 response.body = "\x1f\x8b not for us";
             }});
    for (int look = 0; look < 3; ++look) {
        const auto report = world.examine("a");
        CHECK(report.reason.empty());
        CHECK_FALSE(report.system_uuid.empty());
        world.pass(minutes{10});
    }
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
}

TEST_CASE("a system that does not answer does not hide another one of the same BMC") {
    for (const auto* id : {"Blade2", "/redfish/v1/Systems/Blade2"}) {
        World world;
        world.add("a", {.systems = 2});
        world.host("a").bmc.system_id = id;
        world.odd("a").add({.is_for = requests("GET", kSystem), .instead = refusal(503)});
        CHECK(world.examine("a").reason.empty());
    }
}

TEST_CASE("a known host is found again by its UUID when its BMC lists more systems than before") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    bmc.profile().systems = 2;
    const bool is_silent = GENERATE(false, true);
    if (is_silent)
        world.odd("a").add({.is_for = requests("GET", "/Systems/Blade2"), .instead = refusal(503)});
    world.odd("a").add({.is_for = requests("GET", "/Systems"),
                        .alter = merging(R"({"Members":[{"@odata.id":"/redfish/v1/Systems/Blade2"},
                                                        {"@odata.id":"/redfish/v1/Systems/Blade1"}]})")});
    world.restart();
    CHECK(world.examine("a").reason.empty());
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("a host whose UUID became known later is found by it when its BMC lists more systems") {
    World world;
    auto& bmc = world.add("a");
    const auto uuid = std::exchange(world.host("a").system_uuid, "");
    REQUIRE(world.examine("a").reason.empty());
    world.host("a").system_uuid = uuid;
    world.inventory.touch("a");
    REQUIRE(world.examine("a").reason.empty());
    bmc.profile().systems = 2;
    world.odd("a").add({.is_for = requests("GET", "/Systems"),
                        .alter = merging(R"({"Members":[{"@odata.id":"/redfish/v1/Systems/Blade2"},
                                                        {"@odata.id":"/redfish/v1/Systems/Blade1"}]})")});
    // The BMC does not know its system for a moment, with or without a final slash, so it is looked for
    // again.
    auto& hides = world.odd("a").add({.is_for = requests("GET", kSystem), .instead = refusal(404)});
    REQUIRE_FALSE(world.examine("a").reason.empty());
    hides.times = 0;
    CHECK(world.examine("a").system_uuid == uuid);
}

TEST_CASE("of several systems by UUID one that is silent makes the look fail only if no other is it") {
    World world;
    world.add("a", {.systems = 2});
    world.host("a").bmc.system_id = "00000000-1111-4222-8333-444444444444";
    world.odd("a").add({.is_for = requests("GET", kSystem), .instead = refusal(503)});
    const auto status = world.examine("a");
    CHECK(status.reason == "Busy");
    CHECK(status.message.find("no system that answers has spec.bmc.systemID 00000000-1111") !=
          std::string::npos);
}

TEST_CASE("a system that is absent, disabled or being updated is said to be so") {
    for (const auto* state : {"Absent", "Updating", "UnavailableOffline", "Starting"}) {
        World world;
        world.add("a");
        const auto status = R"({"Status":{"Health":"OK","State":")" + std::string(state) + R"("}})";
        world.odd("a").add({.is_for = requests("GET", kSystem), .alter = merging(status)});
        CHECK(world.examine("a").state == state);
        auto claim = world.claim("c");
        CHECK_FALSE(world.wake(claim, minutes{1}));
        CHECK(claim.outcome.find(state) != std::string::npos);
        CHECK(world.bmc("a").power() == Power::off);
    }
}

TEST_CASE("a host that is off may be called disabled, as OpenBMC does") {
    World world;
    world.add("a");
    world.odd("a").add(
        {.is_for = requests("GET", kSystem), .alter = merging(R"({"Status":{"State":"Disabled"}})")});
    CHECK(world.examine("a").state.empty());
}

TEST_CASE("bytes around an answer are ignored, and an answer that is not JSON is reported") {
    World world;
    world.add("a");
    world.odd("a").add(
        {.is_for = requests("GET", ""), .alter = [](const base::HttpRequest&, base::HttpResponse& response) {
             response.body = "\xef\xbb\xbf" + response.body + std::string("\r\n\0", 3);
         }});
    CHECK(world.examine("a").reason.empty());
    world.add("b");
    world.odd("b").add({.is_for = requests("GET", kSystem),
                        .alter = [](const base::HttpRequest&, base::HttpResponse& response) {
                            response.body = R"({"UUID":NaN})";
                        }});
    const auto report = world.examine("b");
    CHECK(report.reason == "UnexpectedAnswer");
    CHECK(report.message.find("is not JSON: it cannot be read from byte") != std::string::npos);
}

TEST_CASE("a BMC that restarts and says Off for a while costs no host that is on") {
    api::v1alpha1::RedfishSpec spec;
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    World world(spec);
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    const bool is_ready = GENERATE(true, false);
    const base::Duration lasts = GENERATE(seconds{1}, seconds{40});
    INFO(is_ready << " " << lasts.count());
    if (is_ready) world.inventory.ready_nodes.insert("a");
    bmc.on_change = [&](Power power) {
        if (power == Power::off) world.inventory.ready_nodes.clear();
    };
    const auto begin = world.clock.now();
    world.odd("a").add({.is_for =
                            [&, begin](const base::HttpRequest& request) {
                                return world.clock.now() - begin < lasts && requests("GET", kSystem)(request);
                            },
                        .alter = merging(R"({"PowerState":"Off"})")});
    bool was_on_at_erasure = false;
    world.odd("a").add({.is_for = [&](const base::HttpRequest& request) {
        const bool erases = requests("POST", "Drive.SecureErase")(request);
        was_on_at_erasure = was_on_at_erasure || (erases && bmc.power() != Power::off);
        return false;
    }});
    CHECK(world.put_to_sleep(claim));
    CHECK_FALSE(was_on_at_erasure);
    CHECK(bmc.power() == Power::off);
    CHECK(forced(world, "a") == 0);
}

TEST_CASE("a host that says Off during its shutdown is not believed while its Node is Ready") {
    World world;
    auto& bmc = world.add("a", {.shutdown = seconds{90}});
    auto claim = world.serving("c", "a");
    world.inventory.ready_nodes.insert("a");
    bmc.on_change = [&](Power power) {
        if (power == Power::off) world.inventory.ready_nodes.clear();
    };
    CHECK_FALSE(world.put_to_sleep(claim, seconds{10}));
    world.odd("a").add({.is_for = requests("GET", kSystem), .alter = merging(R"({"PowerState":"Off"})")});
    CHECK_FALSE(world.put_to_sleep(claim, seconds{70}));
    CHECK_THAT(claim.outcome, Catch::Contains("its Node is Ready"));
    CHECK(bmc.power() != Power::off);
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
    CHECK(forced(world, "a") == 0);
}

TEST_CASE("a Node that stays Ready after its host went off delays the end, and does not prevent it") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    world.inventory.ready_nodes.insert("a");
    CHECK_FALSE(world.put_to_sleep(claim, seconds{50}));
    CHECK(bmc.power() == Power::off);
    SECTION("the cluster notices it after a while") {
        world.inventory.ready_nodes.clear();
        CHECK(world.put_to_sleep(claim, seconds{10}));
        CHECK(forced(world, "a") == 0);
    }
    SECTION("the cluster never notices it") {
        CHECK(world.put_to_sleep(claim, minutes{5}));
    }
}

TEST_CASE("one answer that says Off after a shutdown was asked for does not make a host that of others") {
    World world;
    auto& bmc = world.add("a", {.shutdown = seconds{60}});
    auto claim = world.serving("c", "a");
    CHECK_FALSE(world.put_to_sleep(claim, seconds{10}));
    REQUIRE(bmc.count("POST", "Reset") == 2);
    world.odd("a").add(
        {.is_for = requests("GET", kSystem), .times = 1, .alter = merging(R"({"PowerState":"Off"})")});
    bmc.set_power(Power::on);
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("a host that was turned off by hand is given back when its Node is not Ready any more") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    world.inventory.ready_nodes.insert("a");
    bmc.set_power(Power::off);
    const auto asked = bmc.count("POST", "Reset");
    CHECK_FALSE(world.put_to_sleep(claim, seconds{40}));
    CHECK_THAT(claim.outcome, Catch::Contains("its Node is Ready"));
    world.inventory.ready_nodes.clear();
    CHECK(world.put_to_sleep(claim, minutes{2}));
    CHECK(bmc.count("POST", "Reset") == asked);
}
