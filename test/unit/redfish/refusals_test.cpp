// Tests requests for power that a BMC refuses, loses, or answers with a task. After a refusal the next step
// follows.
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using api::v1alpha1::PowerOffMode;
using redfish_simulator::Power;
using redfish_simulator::refusal;
using redfish_simulator::requests;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const auto kShutdown = requests("POST", "ComputerSystem.Reset", "GracefulShutdown");
const auto kOn = requests("POST", "ComputerSystem.Reset", "\"On\"");

struct Asked {
    std::size_t gently = 0;
    std::size_t by_force = 0;
    std::optional<base::TimePoint> first;
    std::optional<base::TimePoint> cut;
};

// Counts the requests for another power state, including those that never reach the BMC.
std::shared_ptr<Asked> watch(World& world, const std::string& host) {
    auto asked = std::make_shared<Asked>();
    world.odd(host).add({.is_for = [&world, asked](const base::HttpRequest& request) {
        if (kShutdown(request)) {
            ++asked->gently;
            if (!asked->first) asked->first = world.clock.now();
        }
        if (request.body.find("ForceOff") != std::string::npos) {
            ++asked->by_force;
            if (!asked->cut) asked->cut = world.clock.now();
        }
        return false;
    }});
    return asked;
}

base::HttpResponse accepted(const std::string& task) {
    base::HttpResponse response;
    response.status = 202;
    response.headers.set("Location", task);
    response.body = R"({"TaskState":"Running"})";
    return response;
}

}  // namespace

TEST_CASE("a GracefulShutdown that is refused for ever ends with the power cut, in the BMC's words") {
    struct Case {
        int status;
        const char* id;
        bool is_final;
    };
    for (const auto& c :
         {Case{400, "ActionParameterNotSupported", true}, Case{405, "", true},
          Case{400, "InvalidOperationForSystemState", false}, Case{500, "", false}, Case{503, "", false},
          Case{409, "", false}, Case{403, "InsufficientPrivilege", false}}) {
        World world;
        auto& bmc = world.add("a");
        auto claim = world.serving("c", "a");
        const auto asked = watch(world, "a");
        world.odd("a").add({.is_for = kShutdown, .instead = refusal(c.status, c.id, "no agent")});
        INFO(c.status << " " << c.id);
        REQUIRE(world.put_to_sleep(claim));
        REQUIRE(asked->cut);
        const auto waited = *asked->cut - *asked->first;
        CHECK(waited <= minutes{3} + seconds{30});
        CHECK((waited < minutes{1}) == c.is_final);
        CHECK(bmc.power() == Power::off);
        REQUIRE(world.inventory.announced.size() == 1);
        CHECK(world.inventory.announced.front().starts_with("CuttingPower a "));
        if (*c.id) CHECK(world.inventory.announced.front().find("no agent") != std::string::npos);
    }
}

TEST_CASE("GracefulOnly never cuts: it says what the BMC says, and asks less and less often") {
    api::v1alpha1::RedfishSpec spec;
    spec.powerOff.mode = PowerOffMode::GracefulOnly;
    World world(spec);
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    const auto asked = watch(world, "a");
    world.odd("a").add(
        {.is_for = kShutdown, .instead = refusal(400, "InvalidOperationForSystemState", "it hangs")});
    CHECK_FALSE(world.put_to_sleep(claim, minutes{60}));
    CHECK(asked->by_force == 0);
    CHECK(asked->gently > 3);
    CHECK(asked->gently < 20);
    CHECK(claim.outcome.find("it hangs") != std::string::npos);
    CHECK(claim.outcome.find("GracefulOnly") != std::string::npos);
    CHECK(bmc.power() == Power::on);
    world.odd("a").clear();
    CHECK(world.put_to_sleep(claim));
}

TEST_CASE("a GracefulShutdown that never arrived is sent again, and its time begins anew") {
    World world;
    world.add("a", {.shutdown = seconds{170}});
    auto claim = world.serving("c", "a");
    const auto asked = watch(world, "a");
    world.odd("a").add({.is_for = kShutdown, .times = 1, .is_lost = true});
    CHECK(world.put_to_sleep(claim));
    CHECK(asked->gently == 2);
    CHECK(asked->by_force == 0);
}

TEST_CASE("a GracefulShutdown that is always lost does not delay the end for ever") {
    World world;
    world.add("a");
    auto claim = world.serving("c", "a");
    const auto asked = watch(world, "a");
    world.odd("a").add({.is_for = kShutdown, .is_lost = true});
    CHECK(world.put_to_sleep(claim));
    CHECK(*asked->cut - *asked->first <= minutes{6} + seconds{30});
}

TEST_CASE("On that is refused for ever ends the attempt, in the BMC's words") {
    for (const int status : {400, 409, 500, 503}) {
        World world;
        world.add("a");
        world.odd("a").add({.is_for = kOn, .instead = refusal(status, "GeneralError", "fuse blown")});
        auto claim = world.claim("c");
        CHECK_FALSE(world.wake(claim, minutes{10}));
        INFO(status);
        CHECK(claim.outcome.starts_with("PowerOnFailed: "));
        CHECK(claim.outcome.find("fuse blown") != std::string::npos);
    }
}

TEST_CASE("a task that cannot turn the host on ends the attempt in its words, and is not doubled") {
    World world;
    world.add("a");
    const auto begin = world.clock.now();
    std::size_t sent = 0;
    world.odd("a").add({.is_for =
                            [&](const base::HttpRequest& request) {
                                sent += kOn(request) ? 1 : 0;
                                return kOn(request);
                            },
                        .instead = accepted("/redfish/v1/TaskService/Tasks/77")});
    base::HttpResponse task;
    task.status = 200;
    task.body = R"({"TaskState":"Running"})";
    world.odd("a").add({.is_for =
                            [&](const base::HttpRequest& request) {
                                return requests("GET", "/Tasks/77")(request) &&
                                       world.clock.now() - begin < seconds{60};
                            },
                        .instead = task});
    task.body =
        R"({"TaskState":"Exception","Messages":[{"Message":"The supplies do not give enough power."}]})";
    world.odd("a").add({.is_for = requests("GET", "/Tasks/77"), .instead = task});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("do not give enough power") != std::string::npos);
    CHECK(sent == 1);
    CHECK(world.clock.now() - begin < seconds{100});
}

TEST_CASE("an error object in an answer of 200 is a refusal, unless it says Success") {
    World world;
    world.add("a");
    auto answer = refusal(200, "InternalError", "not done");
    world.odd("a").add({.is_for = kOn, .instead = answer});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("not done") != std::string::npos);

    World other;
    other.add("a");
    other.odd("a").add({.is_for = kOn, .alter = [](const base::HttpRequest&, base::HttpResponse& response) {
                            response = refusal(200, "Success", "done");
                        }});
    auto second = other.claim("c");
    CHECK(other.wake(second));
}

TEST_CASE("GracefulOnly says what it waits for where the host does not shut down") {
    api::v1alpha1::RedfishSpec spec;
    spec.powerOff.mode = PowerOffMode::GracefulOnly;
    World world(spec);
    world.add("a", {.ignores_shutdown = true});
    auto claim = world.serving("c", "a");
    CHECK_FALSE(world.put_to_sleep(claim, minutes{30}));
    CHECK(claim.outcome.find("was asked to shut down") != std::string::npos);
    CHECK(claim.outcome.find("turn it off, or change the mode") != std::string::npos);
}

TEST_CASE("a BMC that offers a shutdown only while its host is on is asked for it") {
    World world;
    const bool is_inline = GENERATE(false, true);
    auto& bmc = world.add("a", {.resets_in_action_info = !is_inline});
    // It reads the list late, too: for some seconds it offers what fits a host that is off.
    bool is_late = false;
    const auto fits_off = [&bmc, &is_late] { return bmc.power() != Power::on || is_late; };
    const auto list = redfish_simulator::merging(
        is_inline ? R"({"Actions":{"#ComputerSystem.Reset":{
                       "target":"/redfish/v1/Systems/Blade1/Actions/ComputerSystem.Reset",
                       "ResetType@Redfish.AllowableValues":["On","ForceOff"]}}})"
                  : R"({"Parameters":[{"Name":"ResetType","AllowableValues":["On","ForceOff"]}]})");
    world.odd("a").add({.is_for = requests("GET", is_inline ? "/Systems/Blade1" : "/ResetActionInfo"),
                        .alter = [&, list](const base::HttpRequest& request, base::HttpResponse& response) {
                            if (fits_off()) list(request, response);
                        }});
    CHECK(world.examine("a").reason.empty());
    auto claim = world.serving("c", "a");
    CHECK(world.examine("a").reason.empty());
    is_late = is_inline;
    const auto asked = watch(world, "a");
    CHECK(world.put_to_sleep(claim));
    CHECK(asked->gently == 1);
    CHECK(asked->by_force == 0);
}

TEST_CASE("a BMC that lists reset types only while its host is off can turn it off all the same") {
    World world;
    auto& bmc = world.add("a");
    const auto list = [](const std::string& types) {
        return redfish_simulator::merging(
            R"({"Actions":{"#ComputerSystem.Reset":{
                "target":"/redfish/v1/Systems/Blade1/Actions/ComputerSystem.Reset")" +
            types + "}}}");
    };
    const auto of_off = list(R"(,"ResetType@Redfish.AllowableValues":["On"])");
    const auto of_on = list("");
    world.odd("a").add({.is_for = requests("GET", "/Systems/Blade1"),
                        .alter = [&](const base::HttpRequest& request, base::HttpResponse& response) {
                            (bmc.power() == Power::off ? of_off : of_on)(request, response);
                        }});
    auto claim = world.serving("c", "a");
    const auto asked = watch(world, "a");
    CHECK(world.put_to_sleep(claim));
    CHECK(asked->gently == 1);
    CHECK(asked->by_force == 0);
}

TEST_CASE("a host that no force turns off says what a person can do") {
    World world;
    auto& bmc = world.add("a", {.ignores_shutdown = true});
    auto claim = world.serving("c", "a");
    base::HttpResponse nothing;
    nothing.status = 204;
    world.odd("a").add({.is_for = requests("POST", "ComputerSystem.Reset", "ForceOff"), .instead = nothing});
    CHECK_FALSE(world.put_to_sleep(claim, minutes{20}));
    CHECK_THAT(claim.outcome, Catch::Contains("its BMC still says On: turn the host off by hand"));
    bmc.set_power(Power::off);
    CHECK(world.put_to_sleep(claim, minutes{3}));
}
