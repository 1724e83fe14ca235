// No machine is launched that no host can provide. A new machine is expected to hold everything for which it
// was launched.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::MachineSize;
using scheduling::solve;

namespace {

constexpr std::int64_t kGiB = 1024;  // in MiB

// Returns a pool with the CRD's defaults, over hosts that promise four times their CPUs.
scheduling::Snapshot overcommitted(const std::vector<std::int64_t>& cpus) {
    auto cluster = snapshot();
    auto& pool = cluster.pools[0];
    pool.flexible = {};
    pool.reserved = {100, 256};
    pool.places.clear();
    cluster.places.clear();
    for (const auto count : cpus) {
        const auto name = "host-" + std::to_string(cluster.places.size());
        auto host = place(name);
        host.largest = MachineSize{count - 1, count * 4 * kGiB - 2 * kGiB};
        host.free_cpu_cores = count * 4 - 1;
        host.free_memory_mib = host.largest->memory_mib;
        pool.places.push_back({cluster.places.size(), name, {}});
        cluster.places.push_back(host);
    }
    return cluster;
}

void add_pods(scheduling::Snapshot& cluster, int count, const std::string& cpu) {
    for (int i = 0; i < count; ++i)
        cluster.pods.push_back(PodBuilder("pod-" + std::to_string(i), cpu, "512Mi"));
}

}  // namespace

TEST_CASE("load that would take a machine larger than any host is split") {
    const std::vector<std::vector<std::int64_t>> clusters{{16, 16, 16}, {4, 4, 4}, {8, 8, 8}, {4, 8, 16}};
    for (const auto& cpus : clusters) {
        auto cluster = overcommitted(cpus);
        add_pods(cluster, 20, "1");
        const auto result = solve(cluster);
        CHECK(result.unplaced.empty());
        for (const auto& claim : result.claims)
            CHECK(claim.cpu_cores <= cluster.places[claim.place].largest->cpu_cores);
    }
}

TEST_CASE("a pod that fits no host is told the largest machine, and all others get theirs") {
    auto cluster = overcommitted({16, 4});
    add_pods(cluster, 20, "1");
    cluster.pods.push_back(PodBuilder("huge", "20"));
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].pod->metadata.name == "huge");
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{"pool small: needs 20 CPUs, largest machine offers 14.9 after system "
                                   "reserve, as no host can give one machine more: ask for less, or add a "
                                   "larger host"});
}

TEST_CASE("a pool whose sizes are all larger than its hosts says so, whatever the pod asks for") {
    auto cluster = overcommitted({8});
    cluster.pools[0].shapes = {{"giant", 500, 6144, 110}};
    add_pods(cluster, 1, "2");
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{"pool small: each of its sizes is larger than what any host can give one "
                                   "machine: make one smaller, or add a larger host"});
}

TEST_CASE("of fixed sizes, those that a host can provide are launched") {
    auto cluster = overcommitted({8});
    cluster.pools[0].shapes = {{"large", 16, 16384, 110}, {"small", 4, 8192, 110}};
    add_pods(cluster, 5, "1");
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    REQUIRE(result.claims.size() == 2);
    CHECK(result.claims[0].shape == "small");
    cluster.pods = {PodBuilder("wide", "6")};
    CHECK(
        solve(cluster).unplaced[0].reasons[0] ==
        "pool small: needs 6 CPUs, largest machine offers 3.9 after system reserve, as no host can give one "
        "machine more: ask for less, or add a larger host");
}

TEST_CASE("a size that found no room is not asked for again, what is smaller or elsewhere is") {
    auto cluster = overcommitted({16});
    add_pods(cluster, 10, "1");
    cluster.places[0].refused = {{8, 4096}};
    const auto split = solve(cluster);
    CHECK(split.unplaced.empty());
    for (const auto& claim : split.claims) CHECK(claim.cpu_cores < 8);

    auto other = place("other");
    other.largest = MachineSize{31, 64 * kGiB};
    cluster.places.push_back(other);
    cluster.pools[0].places.push_back({1, "other", {}});
    const auto elsewhere = solve(cluster);
    REQUIRE(elsewhere.claims.size() == 1);
    CHECK(elsewhere.claims[0].place == 1);
}

TEST_CASE("pods share the disk of a machine, and one that needs more than it has is told so") {
    auto cluster = overcommitted({16});
    cluster.pools[0].ephemeral_storage_mib = 17 * kGiB;
    for (int i = 0; i < 4; ++i)
        cluster.pods.push_back(
            PodBuilder("pod-" + std::to_string(i), "1").requests({{"ephemeral-storage", "8Gi"}}));
    cluster.pods.push_back(PodBuilder("greedy").requests({{"ephemeral-storage", "100Gi"}}));
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 2);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons[0] ==
          "pool small: needs 100 GiB of ephemeral storage, largest machine offers 17 GiB: ask for "
          "less, or give the machines a larger boot disk");
}

// Otherwise the coming node would seem to have no room, and the machine would be launched again and again.
TEST_CASE(
    "a machine that is being created is expected to hold everything it was launched for, of every resource") {
    auto cluster = overcommitted({16});
    auto& pool = cluster.pools[0];
    pool.extended_resources["example.com/gpu"] = quantity("2");
    pool.pods_per_node = 3;
    cluster.pods = {
        PodBuilder("a", "3", "2Gi").requests({{"ephemeral-storage", "50Mi"}, {"example.com/gpu", "1"}}),
        PodBuilder("b", "3", "2Gi").requests({{"ephemeral-storage", "1Gi"}}),
        PodBuilder("c", "100m", "64Mi")};
    for (const auto& storage : {std::optional<std::int64_t>(), std::optional<std::int64_t>(2 * kGiB)}) {
        pool.ephemeral_storage_mib = storage;
        const auto result = solve(cluster);
        REQUIRE(result.claims.size() == 1);
        const auto later = after(cluster, result);
        const auto again = solve(later);
        CHECK(again.claims.empty());
        CHECK(again.unplaced.empty());
    }
}

TEST_CASE(
    "nothing is launched for a pod that asks for more disk than any machine has, if disks are not known") {
    auto cluster = overcommitted({16});
    cluster.pools[0].ephemeral_storage_mib.reset();
    cluster.pods.push_back(
        PodBuilder("giant", "1", "1Gi").requests({{"ephemeral-storage", "9223372036854775807"}}));
    const auto result = solve(cluster);
    CHECK(result.claims.empty());
    CHECK(result.unplaced.size() == 1);
}
