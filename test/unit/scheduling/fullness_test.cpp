// Tests which machines are full, so that later pods would not change them.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

// Returns a cluster with machines of up to 8 CPUs.
scheduling::Snapshot cluster_with(std::vector<std::shared_ptr<const api::Pod>> pods) {
    auto cluster = snapshot();
    cluster.pools = {pool("small")};
    cluster.pools[0].flexible.cpuCores = {1, 8, 1};
    cluster.pools[0].flexible.memoryMiB = {1024, 65536, 512};
    cluster.pods = std::move(pods);
    return cluster;
}

std::vector<bool> fullness_of(const scheduling::Snapshot& cluster) {
    std::vector<bool> full;
    for (const auto& claim : solve(cluster).claims) full.push_back(claim.is_full);
    return full;
}

std::vector<std::shared_ptr<const api::Pod>> pods(int count, const std::string& cpu) {
    std::vector<std::shared_ptr<const api::Pod>> made;
    for (int i = 0; i < count; ++i) made.push_back(PodBuilder("pod-" + cpu + "-" + std::to_string(i), cpu));
    return made;
}

}  // namespace

TEST_CASE("a machine is full when it is as large as it may be and holds no other pod of those that wait") {
    CHECK(fullness_of(cluster_with(pods(3, "2500m"))) == std::vector{true});
    CHECK(fullness_of(cluster_with(pods(2, "2500m"))) == std::vector{false});
    CHECK(fullness_of(cluster_with(pods(4, "2500m"))) == std::vector{true, false});

    auto mixed = pods(3, "2500m");
    mixed.push_back(PodBuilder("tiny", "100m"));
    CHECK(fullness_of(cluster_with(mixed)) == std::vector{false});
}

TEST_CASE("a machine of which more than a tenth is free is not full, even if no pod that waits fits in") {
    CHECK(fullness_of(cluster_with(pods(1, "5"))) == std::vector{false});
    auto memory = cluster_with({PodBuilder("wide", "1", "60Gi")});
    CHECK(fullness_of(memory) == std::vector{true});
}

TEST_CASE("a machine that could not grow where it stands is full") {
    auto cluster = cluster_with(pods(2, "2"));
    auto place = builders::place("host");
    place.free_cpu_cores = 5;
    cluster.places = {place};
    cluster.pools[0].places = {{0, "host", {}}};
    CHECK(fullness_of(cluster) == std::vector{false});
    cluster.places[0].free_cpu_cores = 4;
    cluster.pods = pods(1, "3900m");
    CHECK(fullness_of(cluster) == std::vector{true});
}

TEST_CASE("of a fixed size a machine is full when the largest is") {
    auto cluster = cluster_with(pods(1, "1900m"));
    cluster.pools[0].shapes = {{"s", 2, 4096, 110}, {"l", 4, 8192, 110}};
    CHECK(fullness_of(cluster) == std::vector{false});
    cluster.pods = pods(2, "1900m");
    CHECK(fullness_of(cluster) == std::vector{true});
}

TEST_CASE("devices and numbers of pods fill a machine as well") {
    auto cluster = cluster_with({PodBuilder("a").requests({{"example.com/gpu", "1"}}),
                                 PodBuilder("b").requests({{"example.com/gpu", "1"}})});
    cluster.pools[0].extended_resources["example.com/gpu"] = quantity("2");
    CHECK(fullness_of(cluster) == std::vector{true});
    cluster.pools[0].extended_resources["example.com/gpu"] = quantity("3");
    CHECK(fullness_of(cluster) == std::vector{false});

    auto small = cluster_with(pods(2, "100m"));
    small.pools[0].pods_per_node = 2;
    CHECK(fullness_of(small) == std::vector{true});
}

TEST_CASE("a machine with a pod whose place depends on other machines is not full") {
    const auto spread = [](const std::string& name) {
        auto pod = PodBuilder(name, "2500m").label("app", "a");
        auto& rule = pod.pod.spec.topologySpreadConstraints->emplace_back();
        rule.maxSkew = 5;
        rule.topologyKey = api::labels::kZone;
        rule.whenUnsatisfiable = api::UnsatisfiableConstraintAction::DoNotSchedule;
        rule.labelSelector.emplace().matchLabels = {{"app", "a"}};
        return pod;
    };
    auto cluster = cluster_with({spread("a"), spread("b"), spread("c")});
    for (auto& place : cluster.pools[0].places) place.labels[std::string(api::labels::kZone)] = "z";
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK_FALSE(result.claims[0].is_full);
}

TEST_CASE("machines that are launched without pods are not full") {
    auto cluster = cluster_with({});
    cluster.pools[0].min_nodes = 1;
    CHECK(fullness_of(cluster) == std::vector{false});
}
