// Tests the simulation itself: it is repeatable, its plain case works, and it notices each violation.
#include <algorithm>

#include "test/simulation/guests/own_addresses.hpp"
#include "test/simulation/run.hpp"
#include "test/support/catch.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

// PlainWorld is a world without trouble and with one operator.
struct PlainWorld {
    explicit PlainWorld(Scenario scenario = plain_scenario())
        : world(1, std::move(scenario), Recording::off), operators(world) {
        world.faults.stop();
        operators.keep(1);
    }
    ~PlainWorld() {
        operators.stop_all();
        world.shut_down();
    }

    std::size_t running_pods() const {
        const auto& pods = world.view.all<api::Pod>();
        return static_cast<std::size_t>(std::ranges::count_if(
            pods, [](const auto& entry) { return entry.second->status.phase == api::PodPhase::Running; }));
    }

    World world;
    Operators operators;
};

}  // namespace

TEST_CASE("pods without a node get one, and it leaves when they do") {
    PlainWorld plain;
    plain.world.run_for(2min);
    CHECK(plain.running_pods() == 2);
    CHECK(plain.world.view.all<api::Node>().size() == 1);
    CHECK(plain.world.administrators.marked().size() == 1);
    plain.world.workloads.scale("web", 0);
    plain.world.run_for(1h);
    CHECK(plain.world.view.all<api::Node>().empty());
    CHECK(plain.world.view.all<NodeSmithClaim>().empty());
    CHECK(plain.world.administrators.marked().empty());
}

TEST_CASE("a machine that boots from the network joins by itself and is recognised") {
    auto scenario = plain_scenario();
    scenario.pools.front().spec.bootstrap.reset();
    PlainWorld plain(std::move(scenario));
    plain.world.run_for(5min);
    CHECK(plain.running_pods() == 2);
}

TEST_CASE("a killed operator has no effect any more, and its successor goes on") {
    PlainWorld plain;
    plain.world.run_for(1s);
    plain.operators.kill(*plain.operators.alive().front());
    plain.world.run_for(500ms);
    CHECK(plain.world.view.all<NodeSmithClaim>().empty());
    plain.world.run_for(5min);
    CHECK(plain.running_pods() == 2);
    CHECK(plain.world.administrators.marked().size() == 1);
}

TEST_CASE("a pause within a longer one does not end it") {
    PlainWorld plain;
    auto& process = *plain.operators.alive().front();
    process.pause_until(plain.world.now() + 60s);
    plain.world.run_for(10s);
    process.pause_until(plain.world.now() + 5s);
    plain.world.run_for(45s);
    CHECK(process.paused());
    plain.world.run_for(10s);
    CHECK_FALSE(process.paused());
}

TEST_CASE("the same seed gives the same run") {
    RunOptions options;
    options.seed = 3;
    options.trouble = 20min;
    options.recording = Recording::on;
    auto first = run_seed(options);
    auto second = run_seed(options);
    CHECK(first.trace.size() > 100);
    CHECK(first.trace == second.trace);
    options.recording = Recording::off;
    auto silent = run_seed(options);
    CHECK(silent.faults == first.faults);
    CHECK(silent.simulated == first.simulated);
}

TEST_CASE(
    "fifty machines of a dual-stack pool never share an address, and all addresses come back, whatever goes "
    "wrong") {
    std::size_t most = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        RunOptions options;
        options.seed = seed;
        options.adapt = [](Scenario& scenario) {
            auto drawn = std::move(scenario);
            scenario = plain_scenario();
            scenario.leader_election = true;
            scenario.lease_duration = 15s;
            scenario.changes_per_hour = drawn.changes_per_hour;
            for (auto& host : scenario.proxmox.hosts) {
                host.cpus = 64;
                host.memory = 512ULL << 30;
            }
            auto& pool = scenario.pools.front();
            pool.spec.machineTemplate.sizes = {{"small", 2, 4096}};
            pool.spec.machineTemplate.network = a_dual_stack_network(0);
            scenario.deployments = {a_deployment("web", 50, "1500m", "1Gi")};
        };
        options.watch = [&](World& world) {
            world.view.subscribe<NodeSmithPool>([&](const NodeSmithPool*, const NodeSmithPool* after) {
                if (after) most = std::max(most, after->status.addresses.size());
            });
        };
        const auto outcome = run_seed(options);
        INFO("seed " << seed);
        for (const auto& violation : outcome.violations) UNSCOPED_INFO(violation.message);
        CHECK(outcome.violations.empty());
    }
    CHECK(most >= 100);
}

TEST_CASE("a guest whose network configuration fits none of its interfaces has no network") {
    const proxmox::Config config{{"net0", "virtio=02:11:22:33:44:55,bridge=vmbr0"}};
    const auto document = [](const std::string& mac_address) {
        return "version: 1\nconfig:\n- {type: physical, name: eth0, mac_address: \"" + mac_address +
               "\", subnets: [{type: static, address: 10.0.4.5/24}]}\n";
    };
    CHECK(own_addresses(document("02:11:22:33:44:55"), config) == std::set<std::string>{"10.0.4.5"});
    CHECK_THROWS_WITH(own_addresses(document("02:11:22:33:44:56"), config),
                      Catch::Contains("no interface of the machine has"));
    CHECK_THROWS(own_addresses("version: 2\nethernets: {primary: {match: {name: \"e*\"}}}\n", config));
}
