// The process dies at each of its outside calls in turn, before and after the call took effect. The next
// process continues from what it finds. In every case there is one machine, and in the end no machine is
// left.
#include "test/support/catch.hpp"
#include "test/support/cluster_info.hpp"
#include "test/unit/bootstrap/certificate.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using namespace std::chrono_literals;

struct Outcome {
    bool crashed = false;
    bool reached = false;
    std::string left;
};

std::string what_is_left(World& world) {
    auto count = [](const char* what, std::size_t number) {
        return std::to_string(number) + " " + what + " ";
    };
    std::string text = count("claims", world.server.list<NodeSmithClaim>().size()) +
                       count("machines", world.cloud.machines.size()) +
                       count("Nodes", world.server.list<api::Node>().size()) +
                       count("Secrets", world.server.list<api::Secret>().size());
    for (const auto& violation : world.cloud.violations()) text += violation + "; ";
    return text;
}

// Runs until the process crashed or the goal is reached. After a crash a second process goes on to the goal.
Outcome run_with_crash(World& world, int call, CrashPoint::When when, const std::function<bool()>& goal) {
    CrashPoint crash(call, when);
    Outcome outcome;
    {
        Process process(world, &crash, &crash);
        outcome.reached = world.run_until([&] { return crash.crashed() || goal(); }, 1h);
        outcome.crashed = crash.crashed();
    }
    if (outcome.crashed) {
        Process next(world);
        outcome.reached = world.run_until(goal, 1h);
    }
    outcome.left = what_is_left(world);
    return outcome;
}

void use_cloud_init(World& world) {
    world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
        pool.spec.bootstrap.emplace();
        pool.spec.bootstrap->method = api::v1alpha1::BootstrapMethod::CloudInit;
    });
    world.server.put(test::cluster_info(test::kCACertificate));
}

// Crashes at every call of one launch and of one removal.
void crash_everywhere(CrashPoint::When when, const std::function<void(World&)>& prepare) {
    bool more = true;
    int call = 1;
    for (; more; ++call) {
        World world;
        prepare(world);
        world.launch();
        const auto launch = run_with_crash(world, call, when, [&] { return world.ready(); });
        INFO("launch, call " << call << ": " << launch.left);
        REQUIRE(launch.reached);
        CHECK(world.cloud.violations().empty());
        CHECK(world.cloud.machines.size() == 1);
        CHECK(world.claim()->status.launchAttempts == 1);
        world.server.remove<NodeSmithClaim>(kClaim);
        const auto removal = run_with_crash(world, call, when, [&] { return world.gone(); });
        INFO("removal, call " << call << ": " << removal.left);
        REQUIRE(removal.reached);
        CHECK(world.clean());
        more = launch.crashed || removal.crashed;
    }
    CHECK(call > 30);  // proves that it crashed at all
}

TEST_CASE("a crash before any outside call leaves one machine and in the end none") {
    crash_everywhere(CrashPoint::When::before, [](World&) {});
}

TEST_CASE("a crash after any outside call leaves one machine and in the end none") {
    crash_everywhere(CrashPoint::When::after, [](World&) {});
}

TEST_CASE("with boot data, a crash after any outside call leaves no token behind") {
    crash_everywhere(CrashPoint::When::after, use_cloud_init);
}

TEST_CASE("a crash during a failed attempt never leads to two machines") {
    for (int call = 1; call < 80; ++call) {
        World world;
        world.machines_join = false;
        world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
            pool.spec.scaleUp.registrationTimeout = api::Duration(1min);
            pool.spec.scaleUp.maxLaunchAttempts = 2;
        });
        world.launch();
        const auto outcome = run_with_crash(world, call, CrashPoint::When::after, [&] {
            return world.reason(api::conditions::kMachineDeleted) == "MachineDeleted" &&
                   world.reason(api::conditions::kFailed) == "RegistrationTimeoutExceeded";
        });
        INFO("call " << call << ": " << outcome.left);
        REQUIRE(outcome.reached);
        CHECK(world.cloud.created() == 2);
        CHECK(world.cloud.violations().empty());
        CHECK(world.cloud.machines.empty());
        if (!outcome.crashed) break;
    }
}

}  // namespace
