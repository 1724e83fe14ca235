// Tests the judge of odd BMCs. It sees a process with two sessions at one BMC, and nothing else.
#include "api/bytes.hpp"
#include "test/simulation/dice.hpp"
#include "test/simulation/invariants/invariant.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

constexpr const char* kHost = "metal-1";
constexpr const char* kUrl = "https://metal-1";

// Rack is a world with one host without habits, and without any operator.
struct Rack {
    Rack() { world.faults.stop(); }
    ~Rack() {
        others.shut_down();
        operators.stop_all();
        world.shut_down();
    }

    static Scenario scenario() {
        auto scenario = plain_scenario();
        const auto random = fake::make_seeded_random(1);
        Dice dice(*random);
        scenario.pools.push_back(add_rack(scenario, dice));
        scenario.bare_metal.resize(1);
        auto& host = scenario.bare_metal.front();
        const auto uuid = host.profile.uuid;
        host.profile = {};
        host.profile.uuid = uuid;
        host.is_foreign = false;
        return scenario;
    }

    redfish_simulator::Bmc& bmc() { return world.bmcs.bmc(kHost); }
    int send(base::HttpTransport& wire, const std::string& target, std::string body) {
        base::HttpRequest request;
        request.method = "POST";
        request.target = "/redfish/v1" + target;
        request.headers.set("Authorization",
                            "Basic " + api::Bytes{known.username + ":" + known.password}.str());
        request.body = std::move(body);
        return test::run(world.context, world.clock, wire.send(std::move(request))).status;
    }
    std::unique_ptr<base::HttpTransport> connect(Process& process) {
        return world.bmcs.note_sessions(
            process.name(), kUrl, world.network.connect(process, world.bmcs.connect(kUrl, Cluster::ours)));
    }
    std::string login() const {
        return R"({"UserName":")" + known.username + R"(","Password":")" + known.password + R"("})";
    }
    void log_in(Process& process) {
        const auto wire = connect(process);
        REQUIRE(send(*wire, "/SessionService/Sessions", login()) == 201);
    }

    const redfish_simulator::Profile known;
    World world{1, scenario(), Recording::off};
    Operators operators{world};
    OtherCluster others{world};
    Adversary adversary{world, operators};
    std::vector<Violation> violations;
    SharedRackCounts counts;
    Stage stage{world, operators, adversary.deeds(), violations, others, counts};
    std::unique_ptr<Invariant> judge = odd_answers_cost_nothing(stage);
};

}  // namespace

TEST_CASE("the judge sees a second session of a process, and none of another one") {
    Rack rack;
    Process first("first", rack.world.context.get_executor(), rack.world.clock);
    Process second("second", rack.world.context.get_executor(), rack.world.clock);
    rack.log_in(first);
    SECTION("of the same process") {
        rack.log_in(first);
        REQUIRE(rack.violations.size() == 1);
        CHECK(rack.violations.front().invariant == "one session for each BMC");
    }
    SECTION("of another process") {
        first.kill();
        rack.log_in(second);
        CHECK(rack.violations.empty());
    }
    SECTION("after the first one has ended") {
        rack.bmc().expire_sessions();
        rack.log_in(first);
        CHECK(rack.violations.empty());
    }
    SECTION("of the same process, which died before the answer reached it") {
        const auto wire = rack.connect(first);
        const auto death = rack.world.clock.call_at(rack.world.now() + 10ms, [&first] { first.kill(); });
        CHECK_THROWS_AS(rack.send(*wire, "/SessionService/Sessions", rack.login()), base::TransportError);
        CHECK(rack.bmc().sessions() == 2);
        CHECK(rack.violations.empty());
    }
}
