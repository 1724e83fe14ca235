// Tests credentials and sessions. One refusal of credentials that were accepted before is only a doubt, and
// no account is locked.
#include <algorithm>
#include <vector>

#include "providers/capabilities.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using redfish_simulator::merging;
using redfish_simulator::Power;
using redfish_simulator::refusal;
using redfish_simulator::requests;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const auto kLogin = requests("POST", "Sessions");

bool uses_basic(const base::HttpRequest& request) {
    return request.headers.find("Authorization").has_value();
}

base::HttpResponse switched_off() {
    base::HttpResponse service;
    service.status = 200;
    service.body = R"({"ServiceEnabled":false})";
    return service;
}

// Counts matching requests, whatever becomes of them.
std::shared_ptr<int> count(World& world, const std::string& host,
                           std::function<bool(const base::HttpRequest&)> which) {
    auto counted = std::make_shared<int>(0);
    world.odd(host).add({.is_for = [counted, which = std::move(which)](const base::HttpRequest& request) {
        *counted += which(request) ? 1 : 0;
        return false;
    }});
    return counted;
}

// Looks at the host, and keeps the result as the host reconciler does.
providers::HostReport look(World& world, const std::string& name) {
    auto report = world.examine(name);
    auto& host = world.host(name);
    if (!report.accepted_credentials.empty()) {
        host.accepted_credentials = report.accepted_credentials;
        host.are_sessions_off = report.are_sessions_off;
        host.refused_credentials.clear();
    }
    if (!report.refused_credentials.empty() &&
        (host.refused_credentials != report.refused_credentials || host.refusals != report.refusals)) {
        host.refused_credentials = report.refused_credentials;
        host.refused_at = world.clock.wall_now();
        host.refusals = report.refusals;
        host.refused_mark = host.retry_mark;
    }
    world.inventory.touch(name);
    return report;
}

}  // namespace

TEST_CASE("one refusal of credentials that were accepted is forgotten within seconds") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    bmc.expire_sessions();
    world.odd("a").add({.is_for = kLogin, .times = 1, .instead = refusal(401)});
    CHECK(look(world, "a").reason.empty());
    bmc.expire_sessions();
    world.odd("a").add({.is_for = kLogin, .times = 1, .instead = refusal(401)});
    CHECK(world.put_to_sleep(claim, minutes{5}));
}

TEST_CASE("credentials that were accepted and are refused for good are tried three times in all") {
    World world;
    auto& bmc = world.add("a");
    look(world, "a");
    bmc.expire_sessions();
    const auto sends_password = [](const base::HttpRequest& r) { return kLogin(r) || uses_basic(r); };
    const auto tried = count(world, "a", sends_password);
    world.odd("a").add({.is_for = sends_password, .instead = refusal(401)});
    for (int i = 0; i < 30; ++i) {
        look(world, "a");
        if (i % 4 == 0) world.restart();
        world.pass(minutes{1});
    }
    CHECK(*tried == 3);
    CHECK(look(world, "a").reason == "Unauthorized");
    CHECK(look(world, "a").message.find("retry-credentials") != std::string::npos);
}

TEST_CASE("a suspended BMC is tried again when a person asks for it, and once a day") {
    for (const bool by_hand : {true, false}) {
        for (const bool restarts : {true, false}) {
            World world;
            world.add("a");
            auto& wrong = world.odd("a").add({.is_for = kLogin, .instead = refusal(401)});
            CHECK(look(world, "a").reason == "Unauthorized");
            wrong.times = 0;
            world.pass(hours{2});
            CHECK(look(world, "a").reason == "Unauthorized");
            if (restarts) world.restart();
            if (by_hand) {
                world.host("a").retry_mark = "once more";
                world.inventory.touch("a");
            } else {
                world.pass(hours{23});
            }
            CHECK(look(world, "a").reason.empty());
        }
    }
}

TEST_CASE("without a session to be had, a refused Basic proves nothing") {
    World world;
    world.add("a");
    world.odd("a").add({.is_for = uses_basic, .instead = refusal(401)});
    auto& full = world.odd("a").add({.is_for = kLogin, .instead = refusal(503, "SessionLimitExceeded")});
    for (int i = 0; i < 3; ++i) {
        const auto report = look(world, "a");
        CHECK(report.reason == "Busy");
        CHECK_THAT(report.message, Catch::Contains("end sessions there that nobody needs"));
        CHECK(report.refused_credentials.empty());
        world.pass(minutes{1});
    }
    full.times = 0;
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("a login that fails once is tried again where Basic is refused") {
    World world;
    auto& bmc = world.add("a");
    look(world, "a");
    bmc.expire_sessions();
    world.odd("a").add({.is_for = uses_basic, .instead = refusal(401)});
    world.odd("a").add({.is_for = kLogin, .times = 1, .instead = refusal(500)});
    look(world, "a");
    world.pass(minutes{1});
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("a session service that is switched off means Basic, and no refusal, whichever process asks") {
    World world;
    auto& bmc = world.add("a");
    const auto logins = count(world, "a", kLogin);
    world.odd("a").add({.is_for = kLogin, .instead = refusal(401)});
    world.odd("a").add({.is_for = requests("GET", "SessionService"), .instead = switched_off()});
    for (int process = 0; process < 3; ++process) {
        const auto report = look(world, "a");
        CHECK(report.reason.empty());
        CHECK(report.refused_credentials.empty());
        world.restart();
    }
    CHECK(bmc.wrong_passwords() == 0);
    CHECK(*logins == 1);
}

TEST_CASE("a lost answer about the session service is asked for again") {
    World world;
    world.add("a");
    world.add("b");
    world.odd("a").add({.is_for = kLogin, .instead = refusal(401)});
    world.odd("a").add({.is_for = requests("GET", "SessionService"), .times = 1, .instead = refusal(500)});
    world.odd("a").add({.is_for = requests("GET", "SessionService"), .instead = switched_off()});
    look(world, "a");
    CHECK(look(world, "b").reason.empty());
    look(world, "a");
    world.pass(minutes{5});
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("a person who switches sessions on where Basic is refused asks for another try") {
    World world;
    world.add("a");
    auto& off = world.odd("a").add({.is_for = kLogin, .instead = refusal(401)});
    auto& service =
        world.odd("a").add({.is_for = requests("GET", "SessionService"), .instead = switched_off()});
    CHECK(look(world, "a").reason.empty());
    off.times = 0;
    service.times = 0;
    world.odd("a").add({.is_for = uses_basic, .instead = refusal(401)});
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(look(world, "a").reason.empty());
        world.pass(minutes{3});
    }
    const bool restarts = GENERATE(false, true);
    if (restarts) world.restart();
    world.host("a").retry_mark = "sessions are on";
    world.inventory.touch("a");
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("while good credentials are refused the host says so, and not that they are accepted") {
    World world;
    auto& bmc = world.add("a");
    look(world, "a");
    bmc.expire_sessions();
    auto& wrong = world.odd("a").add({.is_for = kLogin, .instead = refusal(401)});
    const auto report = look(world, "a");
    CHECK(report.reason == "CredentialsDoubted");
    CHECK_FALSE(report.authenticated);
    wrong.times = 0;
    world.pass(minutes{3});
    CHECK(look(world, "a").authenticated);
}

TEST_CASE("a password that must be changed first is asked about less and less often") {
    World world;
    world.add("a");
    const auto asked = count(world, "a", requests("GET", "Systems"));
    auto& expired = world.odd("a").add(
        {.is_for = requests("GET", "Systems"), .instead = refusal(403, "PasswordChangeRequired")});
    for (int minute = 0; minute < 120; ++minute) {
        CHECK(look(world, "a").reason == "PasswordChangeRequired");
        world.pass(minutes{1});
    }
    CHECK(*asked >= 4);
    CHECK(*asked <= 10);
    expired.times = 0;
    world.host("a").retry_mark = "once more";
    world.inventory.touch("a");
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("hosts of one BMC share one session, which the last of them ends") {
    World world;
    auto& bmc = world.add("a", {.session_limit = 2, .systems = 4});
    for (const auto* name : {"a", "b", "c", "d"}) {
        auto host = world.host("a");
        host.name = name;
        host.bmc.system_id = "Blade" + std::to_string(name[0] - 'a' + 1);
        world.inventory.objects[name] = host;
    }
    world.odd("a").add({.is_for = uses_basic, .instead = refusal(401)});
    for (int i = 0; i < 5; ++i) {
        for (const auto* name : {"a", "b", "c", "d"}) CHECK(look(world, name).reason.empty());
        CHECK(bmc.sessions() == 1);
        world.pass(minutes{10});
    }
    CHECK(bmc.count("POST", "Sessions") == 1);
    world.inventory.objects.erase("d");
    world.run(world.provider->offerings());
    CHECK(bmc.sessions() == 1);
    world.run([](providers::SessionHolder& holder) -> asio::awaitable<bool> {
        co_await holder.end_sessions();
        co_return true;
    }(*world.provider->capabilities().session_holder));
    CHECK(bmc.sessions() == 0);
}

TEST_CASE("a resource that answers 401 costs no session, whatever it is asked") {
    World world;
    auto& bmc = world.add("a");
    world.odd("a").add({.is_for = requests("GET", "EthernetInterfaces"), .instead = refusal(401)});
    for (int i = 0; i < 10; ++i) {
        CHECK(look(world, "a").reason.empty());
        CHECK(bmc.sessions() == 1);
        world.pass(minutes{10});
    }
    CHECK(bmc.count("POST", "Sessions") == 2);
    CHECK(bmc.count("DELETE", "Sessions") == 1);
}

TEST_CASE("a resource that answers 401 does not mean that Basic is refused where no session is left") {
    World world;
    world.add("a");
    world.odd("a").add({.is_for = kLogin, .instead = refusal(503, "SessionLimitExceeded")});
    world.odd("a").add({.is_for = requests("GET", "EthernetInterfaces"), .instead = refusal(401)});
    for (int i = 0; i < 3; ++i) {
        CHECK(look(world, "a").reason.empty());
        world.pass(minutes{10});
    }
}

TEST_CASE("a resource that answers 401 to Basic raises one doubt, and none later") {
    World world;
    world.add("a", {.has_sessions = false});
    int asked = 0;
    const auto is_asked = [&asked, reads = requests("GET", "Processors")](const base::HttpRequest& request) {
        const bool is_it = reads(request);
        if (is_it) ++asked;
        return is_it;
    };
    world.odd("a").add({.is_for = is_asked, .instead = refusal(401)});
    std::vector<int> in_look;
    for (int i = 0; i < 6; ++i) {
        asked = 0;
        look(world, "a");
        if (asked > 0) in_look.push_back(asked);
        world.pass(minutes{70});
    }
    REQUIRE(in_look.size() > 2);
    CHECK(in_look.front() == 2);
    CHECK(std::all_of(in_look.begin() + 1, in_look.end(), [](int times) { return times == 1; }));
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("a session that is replaced is ended first") {
    World world;
    auto& bmc = world.add("a");
    world.odd("a").add({.is_for = requests("GET", "Chassis/1"), .times = 1, .instead = refusal(401)});
    world.odd("a").add({.is_for = requests("GET", "Storage"), .times = 1, .instead = refusal(401)});
    CHECK(look(world, "a").reason.empty());
    CHECK(bmc.sessions() == 1);
}

namespace {

bool ends_session(const base::HttpRequest& request) {
    return request.method == "DELETE" && request.target.find("/Sessions/") != std::string::npos;
}

}  // namespace

TEST_CASE("a session that cannot be ended now is not joined by a second one") {
    World world;
    auto& bmc = world.add("a");
    look(world, "a");
    world.odd("a").add({.is_for = requests("GET", ""), .times = 1, .instead = refusal(401)});
    SECTION("as the answer is lost") {
        world.odd("a").add({.is_for = ends_session, .times = 1, .is_lost = true});
    }
    SECTION("as the BMC is busy") {
        world.odd("a").add({.is_for = ends_session, .times = 1, .instead = refusal(503)});
    }
    for (int i = 0; i < 3; ++i) {
        look(world, "a");
        world.pass(minutes{5});
        CHECK(bmc.sessions() <= 1);
    }
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("a BMC that never ends a session keeps no host from use") {
    World world;
    world.add("a");
    look(world, "a");
    world.odd("a").add({.is_for = requests("GET", ""), .times = 3, .instead = refusal(401)});
    world.odd("a").add({.is_for = ends_session, .instead = refusal(500)});
    for (int i = 0; i < 4; ++i) {
        look(world, "a");
        world.pass(minutes{5});
    }
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("a wrong Secret of many BMCs costs its account two refusals, also over restarts") {
    World world;
    const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h"};
    int logins = 0;
    for (const auto& name : names) {
        world.add(name);
        world.odd(name).add({.is_for =
                                 [&logins](const base::HttpRequest& request) {
                                     logins += kLogin(request) ? 1 : 0;
                                     return kLogin(request);
                                 },
                             .instead = refusal(401)});
    }
    for (int process = 0; process < 4; ++process) {
        for (const auto& name : names) CHECK(look(world, name).reason == "Unauthorized");
        world.restart();
        world.pass(minutes{1});
    }
    CHECK(logins == 2);
}

TEST_CASE("a resource that was refused once is asked for again when the session has ended") {
    World world;
    auto& bmc = world.add("a");
    world.odd("a").add({.is_for = requests("GET", "/Systems/Blade1"), .times = 2, .instead = refusal(401)});
    CHECK(look(world, "a").reason == "Forbidden");
    bmc.expire_sessions();
    CHECK(look(world, "a").reason.empty());
}

TEST_CASE("a Secret that several BMCs refused is tried again once a day as well") {
    for (const bool restarts : {true, false}) {
        World world;
        const std::vector<std::string> names{"a", "b", "c"};
        for (const auto& name : names) {
            world.add(name);
            world.odd(name).add({.is_for = kLogin, .instead = refusal(401)});
        }
        for (const auto& name : names) CHECK(look(world, name).reason == "Unauthorized");
        for (const auto& name : names) world.odd(name).clear();
        world.pass(hours{2});
        for (const auto& name : names) CHECK(look(world, name).reason == "Unauthorized");
        if (restarts) world.restart();
        for (const auto& name : names) look(world, name);
        world.pass(hours{23});
        for (const auto& name : names) CHECK(look(world, name).reason.empty());
    }
}

TEST_CASE("a BMC that gave sessions has them also when it says for a while that there are none") {
    World world;
    auto& bmc = world.add("a");
    CHECK(look(world, "a").reason.empty());
    bmc.expire_sessions();
    world.odd("a").add({.is_for = uses_basic, .instead = refusal(401)});
    auto& starting = world.odd("a").add({.is_for = kLogin, .instead = refusal(404)});
    for (int i = 0; i < 5; ++i) {
        const auto report = look(world, "a");
        CHECK(report.reason == "Busy");
        CHECK(report.refused_credentials.empty());
        world.pass(minutes{1});
    }
    starting.times = 0;
    CHECK(look(world, "a").reason.empty());
    CHECK(bmc.sessions() == 1);
}

TEST_CASE("an address that cannot be used leaves no session open") {
    World world;
    auto& bmc = world.add("a");
    CHECK(look(world, "a").reason.empty());
    world.host("a").bmc.url = "no address";
    CHECK(look(world, "a").reason == "InvalidHost");
    world.host("a").bmc.url = "https://a";
    CHECK(look(world, "a").reason.empty());
    CHECK(bmc.sessions() == 1);
}

TEST_CASE("a Secret that got another version, and the same login, is not tried once more") {
    World world;
    world.add("a");
    world.host("a").bmc.credentials = providers::SecretName{"own", ""};
    world.inventory.secrets["own"] = world.config.credentials;
    const auto logins = count(world, "a", kLogin);
    world.odd("a").add({.is_for = kLogin, .instead = refusal(401)});
    CHECK(look(world, "a").reason == "Unauthorized");
    // Our finalizer changes the version like this.
    world.inventory.secret_version = "2";
    CHECK(look(world, "a").reason == "Unauthorized");
    world.restart();
    CHECK(look(world, "a").reason == "Unauthorized");
    CHECK(*logins == 1);
}

TEST_CASE("a shutdown that could not be asked for, as there was no session, uses up no time for it") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    world.odd("a").add({.is_for = requests("POST", "ComputerSystem.Reset"), .instead = refusal(401)});
    world.odd("a").add({.is_for = kLogin, .instead = refusal(503, "SessionLimitExceeded")});
    world.odd("a").add({.is_for = uses_basic, .instead = refusal(401)});
    CHECK_FALSE(world.put_to_sleep(claim, minutes{5}));
    world.odd("a").clear();
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
    for (const auto& exchange : bmc.exchanges()) CHECK(exchange.body.find("ForceOff") == std::string::npos);
}

TEST_CASE("an account of many BMCs that was accepted and is refused is not tried at all of them") {
    World world;
    std::vector<std::string> names;
    for (char name = 'a'; name <= 'p'; ++name) names.emplace_back(1, name);
    int logins = 0;
    for (const auto& name : names) world.add(name);
    for (const auto& name : names) REQUIRE(look(world, name).reason.empty());
    for (const auto& name : names) {
        world.bmc(name).expire_sessions();
        world.odd(name).add({.is_for =
                                 [&logins](const base::HttpRequest& request) {
                                     const bool is_login = kLogin(request) || uses_basic(request);
                                     logins += is_login ? 1 : 0;
                                     return is_login;
                                 },
                             .instead = refusal(401)});
    }
    for (int i = 0; i < 60; ++i) {
        for (const auto& name : names) look(world, name);
        world.pass(minutes{1});
    }
    // There are six while three of them refuse it twice, and one each quarter of an hour.
    CHECK(logins <= 12);
    CHECK(look(world, "p").message.find("every 15 minutes") != std::string::npos);
    for (const auto& name : names) world.odd(name).clear();
    world.pass(minutes{15});
    std::size_t well = 0;
    for (const auto& name : names) well += look(world, name).reason.empty() ? 1 : 0;
    CHECK(well >= names.size() - 6);
}
