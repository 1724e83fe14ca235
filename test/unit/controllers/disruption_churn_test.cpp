// Tests how much moves over long times, in simulated weeks. `make test` runs two days of each.
#include <numeric>

#include "test/support/catch.hpp"
#include "test/support/samples.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;

namespace {

std::chrono::hours week() {
    return test::sample_of(7 * 24h, 2 * 24h);
}

// Sets the default scaleDown of a pool.
void use_defaults(World& world) {
    world.edit_pool([](auto& pool) {
        pool.spec.scaleDown = {};
        pool.spec.disruption = {};
    });
}

std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> result;
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i) result.push_back("node-" + std::to_string(1000 + i));
    return result;
}

}  // namespace

TEST_CASE("a workload that comes and goes every five minutes for days moves few nodes") {
    World world({}, Launching::on);
    use_defaults(world);
    world.edit_pool([](auto& pool) { pool.spec.machineTemplate.sizes = {{"m", 4, 8192}}; });
    const auto scale = [&world](int count) {
        for (int i = 0; i < 24; ++i) {
            const auto name = "web-" + std::to_string(100 + i);
            if (i < count) {
                world.replicas[name] = "900m";
            } else if (world.replicas.erase(name) > 0) {
                world.server.remove<api::Pod>({"default", name}, 0);
            }
        }
    };
    // These are the first pods. From then on the scheduler and the API server cause all changes.
    scale(12);
    for (const auto& [name, cpu] : world.replicas) world.put_replica(name, cpu);
    world.live(30min, 5s);
    REQUIRE(world.claims().size() == 3);

    const auto disruptions = world.events.count("Disrupting");
    const auto before = world.events.count("Created: a machine");
    const auto cycles = static_cast<std::size_t>(week() / 10min);
    for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
        scale(20);
        world.live(5min, 10s);
        scale(12);
        world.live(5min, 10s);
    }
    const auto moved = world.events.count("Disrupting") - disruptions;
    const auto launched = world.events.count("Created: a machine") - before;
    WARN(cycles << " cycles between 12 and 20 pods: " << moved << " nodes left, " << launched
                << " were launched");
    // An operator that follows the workload removes two nodes and launches two in each cycle.
    CHECK(moved <= cycles * 2 / 3);
    CHECK(launched <= moved + 2);
}

TEST_CASE("200 nodes at 30 % are packed to within 5 % of what is possible, and then nothing moves any more") {
    constexpr std::int64_t kCores = 16;
    World world(names(200), Launching::on, kCores);
    use_defaults(world);
    world.edit_pool([](auto& pool) {
        pool.spec.scaleDown.headroomPercent = 0;
        pool.spec.machineTemplate.sizes = {{"m", kCores, kCores * 2048}};
    });
    const std::vector<std::string> sizes{"250m", "500m", "800m", "1000m", "1250m"};
    std::int64_t milli = 0;
    std::size_t pod = 0;
    for (const auto& node : names(200)) {
        for (std::int64_t used = 0; used < kCores * 300;) {
            const auto& cpu = sizes[pod % sizes.size()];
            world.put_running_pod("pod-" + std::to_string(10000 + pod++), node, cpu);
            used += api::Quantity::parse(cpu).milli();
            milli += api::Quantity::parse(cpu).milli();
        }
    }
    const auto least = (milli + kCores * 1000 - 1) / (kCores * 1000);
    world.live(48h, 5s);
    const auto nodes = static_cast<std::int64_t>(world.claims().size());
    const auto moved = world.events.count("Disrupting");
    WARN("at least " << least << " nodes are needed; " << nodes << " are left after " << moved << " moves, "
                     << world.events.count("Created: a machine") << " were launched on the way");
    CHECK(nodes * 100 <= least * 105);
    CHECK(world.longest_wait <= 2min);
    CHECK(world.events.count("Created: a machine") == 0);

    world.live(week(), 60s);
    CHECK(world.events.count("Disrupting") == moved);
    CHECK(static_cast<std::int64_t>(world.claims().size()) == nodes);
}

TEST_CASE("nodes that cost more than their pods are worth give way to cheaper ones, and then nothing moves") {
    constexpr std::int64_t kCores = 16;
    constexpr std::int64_t kNodes = 30;
    World world(names(kNodes), Launching::on, kCores);
    use_defaults(world);
    world.cloud.hosts["host-a"].cpu_cores = 2 * kNodes * kCores;
    world.cloud.hosts["host-a"].memory_mib = 2 * kNodes * kCores * 2048;
    world.edit_pool([](auto& pool) {
        pool.spec.scaleDown.headroomPercent = 0;
        pool.spec.scaleDown.priceThresholdPercent = 75;
        pool.spec.machineTemplate.sizes = {{"m", 12, 24576}, {"l", kCores, kCores * 2048}};
    });
    // No two of the large pods share a node. Small pods are placed where most is free.
    for (const auto& node : names(kNodes)) {
        world.put_running_pod("large-" + node, node, "9");
        world.put_running_pod("small-" + node, node, "1500m");
    }
    const auto cores = [&world] {
        std::int64_t sum = 0;
        for (const auto& claim : world.claims()) sum += claim.spec.requirements.cpuCores;
        return sum;
    };
    world.live(48h, 5s);
    const auto moved = world.events.count("Disrupting");
    const auto left = cores();
    WARN(kCores * kNodes << " cores became " << left << " after " << moved << " moves");
    CHECK(left < kCores * kNodes * 85 / 100);
    CHECK(moved <= 30);
    CHECK(world.events.count("RemovalUndone") == 0);
    CHECK(world.longest_wait <= 2min);

    world.live(week(), 60s);
    CHECK(world.events.count("Disrupting") == moved);
    CHECK(cores() == left);
}

TEST_CASE("pods that lose CPU after their start are not moved to where they would need another machine") {
    World world({}, Launching::on);
    world.edit_pool([](auto& pool) {
        pool.spec.machineTemplate.sizes = {{"m", 4, 8192}};
        pool.spec.scaleDown.headroomPercent = 0;
    });
    for (int i = 0; i < 6; ++i) world.replicas["java-" + std::to_string(i)] = "1250m";
    for (const auto& [name, cpu] : world.replicas) world.put_replica(name, cpu);
    world.live(5min, 5s);
    const auto created = world.events.count("Created: a machine");
    REQUIRE(world.claims().size() == 2);
    for (int minute = 0; minute < 30; ++minute) {
        for (const auto& pod : world.server.list<api::Pod>())
            if (!pod.spec.nodeName.empty())
                world.server.edit<api::Pod>(api::key_of(pod), [](api::Pod& running) {
                    running.spec.containers->front().resources.requests["cpu"] = api::Quantity::parse("100m");
                });
        world.live(1min, 5s);
    }
    CHECK(world.events.count("Disrupting") == 0);
    CHECK(world.events.count("Created: a machine") == created);
    CHECK(world.claims().size() == 2);
}
