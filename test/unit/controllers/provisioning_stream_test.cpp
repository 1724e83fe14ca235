// Tests pods that keep arriving. The operator launches what is certain before the batch is complete.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

#include "api/v1alpha1/common.hpp"
#include "test/support/catch.hpp"
#include "test/support/samples.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithClaim;
using objects::NodeSmithPool;
using World = test::ProvisioningWorld;
namespace provisioning = controllers::provisioning;

namespace {

std::size_t decisions(World& world) {
    const auto text = world.metrics.exposition();
    const std::string name = "kubenodesmith_scheduling_solve_seconds_count ";
    const auto at = text.find(name);
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + name.size()));
}

// Waits records when each pod arrived, and when its claim was created.
class Waits {
public:
    explicit Waits(World& world) : world_(world) {
        world.server.observe([this](const fake::Change& change) {
            if (change.before || !change.after) return;
            if (change.key.resource != fake::ApiServer::resource_name(NodeSmithClaim::kResource)) return;
            const auto claim = api::decode<NodeSmithClaim>(change.after->value());
            for (const auto& uid : provisioning::launched_for(claim))
                waits_.push_back(world_.clock.now() - came_.at(uid));
        });
    }
    void note(const api::Pod& pod) { came_[pod.metadata.uid] = world_.clock.now(); }
    std::size_t size() const { return waits_.size(); }
    base::Duration percentile(std::size_t percent) {
        std::sort(waits_.begin(), waits_.end());
        return waits_.at((waits_.size() - 1) * percent / 100);
    }

private:
    World& world_;
    std::map<std::string, base::TimePoint> came_;
    std::vector<base::Duration> waits_;
};

NodeSmithPool pool_of_16_cpus() {
    auto pool = objects::pool("small");
    pool.spec.machineTemplate.sizes = {{"large", 16, 65536}};
    return pool;
}

void put_hosts(World& world, std::size_t count) {
    world.server.edit<objects::NodeSmithProvider>({"default", "proxmox"}, [&](auto& provider) {
        auto host = provider.status.hosts.front();
        host.freeCPUCores = 4096;
        host.freeMemoryMiB = 16 * 1024 * 1024;
        provider.status.hosts.clear();
        for (std::size_t i = 0; i < count; ++i) {
            host.name = "pve" + std::to_string(i);
            provider.status.hosts.push_back(host);
        }
    });
    world.run_for(3s);
}

void put_stream(World& world, int count, base::Duration pause, const std::string& cpu = "600m") {
    for (int i = 0; i < count; ++i) {
        world.put_pending_pod("stream-" + std::to_string(i), cpu);
        world.run_for(pause);
    }
}

}  // namespace

TEST_CASE("of 1,000 pods within 10 s, half get machines within the idle duration and 0.1 s") {
    World world(World::fixed_size_pool());
    put_hosts(world, 1);
    Waits waits(world);
    const auto looks = decisions(world);
    for (int i = 0; i < 1000; ++i) {
        waits.note(world.put_pending_pod("stream-" + std::to_string(i), "600m"));
        world.run_for(10ms);
    }
    world.run_for(5s);
    CHECK(waits.size() == 1000);
    CHECK(waits.percentile(50) <= 1100ms);
    CHECK(waits.percentile(99) <= 2200ms);
    CHECK(world.claims().size() == 334);  // three pods each
    // There is one look in each idle duration, and one for the rest.
    CHECK(decisions(world) - looks <= 13);
}

TEST_CASE("only full machines are launched while pods keep arriving") {
    World world(pool_of_16_cpus());
    put_stream(world, 40, 100ms, "1");  // 4 s, 15 pods per machine
    CHECK(world.claims().size() == 2);
    CHECK(provisioning::launched_for(world.claims()[0]).size() == 15);
    world.run_for(2s);
    CHECK(world.claims().size() == 3);
}

TEST_CASE("the window of what is not certain is counted from the first pod that still waits") {
    World world(pool_of_16_cpus());
    for (int i = 0; i < 10; ++i) world.put_pending_pod("large-" + std::to_string(i), "1500m");
    world.run_for(900ms);
    CHECK(world.claims().empty());
    for (auto passed = 900ms; passed < 12s; passed += 800ms) {
        if (passed > 1000ms && passed < 10900ms) CHECK(world.claims().size() == 1);
        if (passed > 10900ms) CHECK(world.claims().size() == 2);
        world.put_pending_pod("small-" + std::to_string(passed.count()), "950m");
        world.run_for(800ms);
    }
}

TEST_CASE("machines that grow with their pods are launched early once they have their largest size") {
    auto pool = objects::pool("small");
    pool.spec.machineTemplate.flexible = api::v1alpha1::FlexibleSize{{1, 8, 1}, {1024, 65536, 512}};
    World world(pool);
    put_stream(world, 30, 100ms, "900m");  // 3 s, 8 pods per machine
    CHECK(world.claims().size() == 3);
    for (const auto& claim : world.claims()) CHECK(claim.spec.requirements.cpuCores == 8);
    world.run_for(2s);
    CHECK(world.claims().size() == 4);
}

TEST_CASE("a pool that bounds or spaces its launches waits until the batch is complete") {
    auto pool = World::fixed_size_pool();
    SECTION("batchSize") {
        pool.spec.scaleUp.batchSize = 100;
    }
    SECTION("stabilizationWindow") {
        pool.spec.scaleUp.stabilizationWindow = 1min;
    }
    World world(pool);
    put_stream(world, 30, 100ms);
    CHECK(world.claims().empty());
    world.run_for(2s);
    CHECK(world.claims().size() == 10);
}

TEST_CASE("what a limit leaves is given away when all pods are there") {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.maxNodes = 4;
    World world(pool);
    put_stream(world, 30, 100ms);
    CHECK(world.claims().size() == 3);
    world.run_for(2s);
    CHECK(world.claims().size() == 4);
}

TEST_CASE("mode Observe says once what would be launched for a stream of pods") {
    World world(World::fixed_size_pool());
    world.server.edit<objects::NodeSmithControlPlane>(
        {"default", "main"}, [](auto& c) { c.spec.mode = api::v1alpha1::Mode::Observe; });
    world.run_for(3s);
    put_stream(world, 30, 100ms);
    world.run_for(2s);
    CHECK(world.events.count("WouldCreate") == 1);
    CHECK(world.events.count("WouldCreate: would create 10 claims") == 1);
}

namespace {

// Scenario is a pool, hosts and a few kinds of pods, in the order of their arrival.
struct Scenario {
    explicit Scenario(std::uint64_t seed) : random(seed) {
        pool.spec.machineTemplate.flexible =
            api::v1alpha1::FlexibleSize{{1, static_cast<std::int64_t>(4 + below(13)), 1}, {1024, 65536, 512}};
        if (below(2) == 0)
            pool.spec.machineTemplate.sizes = {{"s", 2, 4096}, {"m", 4, 8192}, {"l", 8, 16384}};
        if (below(3) == 0) pool.spec.machineTemplate.sizes = {{"only", 4, 8192}};
        hosts = 1 + below(4);
        const auto kinds = 1 + below(4);
        for (std::size_t i = 0; i < kinds; ++i)
            pods.push_back({std::to_string(100 * (1 + below(i == 0 ? 10 : 30))) + "m",
                            std::to_string(128 * (1 + below(20))) + "Mi", below(5) == 0});
        const auto count = 20 + below(150);
        for (std::size_t i = 0; i < count; ++i) order.push_back(below(kinds));
        pause = std::chrono::milliseconds(5 + below(45));
    }
    std::size_t below(std::size_t bound) { return random() % bound; }

    struct Kind {
        std::string cpu;
        std::string memory;
        bool is_spread = false;
    };
    std::mt19937_64 random;
    NodeSmithPool pool = objects::pool("small");
    std::size_t hosts = 1;
    std::vector<Kind> pods;
    std::vector<std::size_t> order;
    base::Duration pause{};
};

struct Launched {
    std::size_t machines = 0;
    std::int64_t cost = 0;
    std::size_t refused = 0;
};

void put_pod(World& world, const Scenario& scenario, std::size_t number) {
    const auto& kind = scenario.pods[scenario.order[number]];
    const auto name = "pod-" + std::to_string(number);
    if (!kind.is_spread) {
        world.put_pending_pod(name, kind.cpu, kind.memory);
        return;
    }
    world.put_pending(test::a_pod(name)
                          .label("app", std::to_string(scenario.order[number]))
                          .spread_over(api::labels::kZone)
                          .requesting(kind.cpu, kind.memory));
}

Launched run(const Scenario& scenario, bool as_stream) {
    World world(scenario.pool);
    put_hosts(world, scenario.hosts);
    for (std::size_t i = 0; i < scenario.order.size(); ++i) {
        put_pod(world, scenario, i);
        if (as_stream) world.run_for(scenario.pause);
    }
    world.run_for(30s);
    Launched launched;
    for (const auto& claim : world.claims()) {
        ++launched.machines;
        const auto& size = claim.spec.requirements;
        launched.cost += api::v1alpha1::cost_in_mib(size.cpuCores, size.memoryMiB);
    }
    launched.refused = world.events.count("NoNodeForPod");
    return launched;
}

}  // namespace

TEST_CASE("streams launch what one decision for all their pods would, within some percent") {
    Launched streams;
    Launched batches;
    const auto scenarios = test::sample_of<std::uint64_t>(200, 60);
    for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
        const Scenario scenario(seed);
        const auto stream = run(scenario, true);
        const auto batch = run(scenario, false);
        INFO("seed " << seed << ": " << stream.machines << " machines instead of " << batch.machines);
        CHECK(stream.refused == batch.refused);
        CHECK(stream.machines <= batch.machines + 1 + batch.machines / 10);
        CHECK(stream.cost <= batch.cost * 11 / 10);
        streams.machines += stream.machines;
        streams.cost += stream.cost;
        batches.machines += batch.machines;
        batches.cost += batch.cost;
    }
    CHECK(streams.machines <= batches.machines * 101 / 100);
    CHECK(streams.cost <= batches.cost * 101 / 100);
}

TEST_CASE("pods with a spread that come for several windows each get one machine") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Scenario scenario(seed);
        for (auto& kind : scenario.pods) kind.is_spread = kind.is_spread || scenario.below(2) == 0;
        World world(scenario.pool);
        put_hosts(world, scenario.hosts);
        for (std::size_t i = 0; i < scenario.order.size(); ++i) {
            put_pod(world, scenario, i);
            world.run_for(200ms);
        }
        world.run_for(30s);
        std::map<std::string, int> launches;
        for (const auto& claim : world.claims())
            for (const auto& uid : provisioning::launched_for(claim)) ++launches[uid];
        INFO("seed " << seed);
        CHECK(std::ranges::all_of(launches, [](const auto& entry) { return entry.second == 1; }));
        CHECK(world.events.count("NoNodeForPod") == 0);
    }
}
