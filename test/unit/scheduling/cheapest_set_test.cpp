// The cheapest way to fill machines is taken, and it breaks no rule.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

constexpr std::int64_t kGiB = 1024;  // in MiB

scheduling::MachineShape shape(std::int64_t cpu_cores, std::int64_t gib) {
    scheduling::MachineShape shape;
    shape.name = std::to_string(cpu_cores) + "c" + std::to_string(gib) + "g";
    shape.cpu_cores = cpu_cores;
    shape.memory_mib = gib * kGiB;
    return shape;
}

scheduling::Snapshot fixed_sizes() {
    auto cluster = snapshot();
    cluster.pools[0].shapes = {shape(2, 4),  shape(4, 8),  shape(4, 16),
                               shape(8, 16), shape(8, 32), shape(16, 64)};
    return cluster;
}

void add_pods(scheduling::Snapshot& snapshot, const std::string& name, int count, const std::string& cpu,
              const std::string& memory) {
    for (int i = 0; i < count; ++i)
        snapshot.pods.push_back(PodBuilder(name + "-" + std::to_string(i), cpu, memory));
}

double price_of(const scheduling::SolveResult& result) {
    double price = 0;
    for (const auto& claim : result.claims)
        price += scheduling::Prices().of({claim.cpu_cores, claim.memory_mib});
    return price;
}

}  // namespace

TEST_CASE("pods that need CPUs are not given the memory of the largest machines") {
    auto cluster = fixed_sizes();
    add_pods(cluster, "web", 64, "1", "1500Mi");
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    // 64 cores need two GiB each: 8 machines of 8/16, or twice as many of half that size. The largest
    // machines would cost 512.
    CHECK(price_of(result) == 64 * 4 + 64 * 2);
    CHECK(result.price.machines == price_of(result));
    CHECK(result.price.least == result.price.machines);
    CHECK(result.price.simple > result.price.machines);
}

TEST_CASE("of two sets that cost the same the one with fewer machines is taken") {
    auto cluster = fixed_sizes();
    cluster.pools[0].reserved = {100, 256};
    add_pods(cluster, "web", 14, "1", "1900Mi");
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() == 2);
}

TEST_CASE("a pod with rules of its own is placed as ever beside those that are packed") {
    auto cluster = fixed_sizes();
    add_places(cluster, {"host-b"});
    add_pods(cluster, "web", 40, "1", "1500Mi");
    for (int i = 0; i < 2; ++i) {
        PodBuilder apart("apart-" + std::to_string(i), "1", "1Gi");
        cluster.pods.push_back(apart.label("app", "apart").spread_over(api::labels::kHostname));
    }
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(target_of(cluster, result, "apart-0") != target_of(cluster, result, "apart-1"));
}

TEST_CASE("limits hold for the cheaper set, too") {
    auto cluster = fixed_sizes();
    cluster.budgets.emplace_back();
    cluster.budgets[0].cpu_cores = 16;
    cluster.pools[0].budgets = {0};
    add_pods(cluster, "web", 64, "1", "1500Mi");
    const auto result = solve(cluster);
    std::int64_t cores = 0;
    for (const auto& claim : result.claims) cores += claim.cpu_cores;
    CHECK(cores <= 16);
    CHECK(result.unplaced.size() == 64 - 16);
}

TEST_CASE("where not all can be placed, those of higher priority are") {
    auto cluster = fixed_sizes();
    cluster.budgets.emplace_back();
    cluster.budgets[0].nodes = 1;
    cluster.pools[0].budgets = {0};
    add_pods(cluster, "low", 30, "2", "1Gi");
    for (int i = 0; i < 4; ++i) {
        PodBuilder high("high-" + std::to_string(i), "500m", "12Gi");
        high.pod.spec.priority = 1000;
        cluster.pods.push_back(high);
    }
    const auto result = solve(cluster);
    for (int i = 0; i < 4; ++i) CHECK_FALSE(target_of(cluster, result, "high-" + std::to_string(i)).empty());
}

TEST_CASE("the cheaper set stands where it has room: a size that no host can take is not planned with") {
    auto cluster = fixed_sizes();
    cluster.places[0].largest = scheduling::MachineSize{4, 8 * kGiB};
    add_pods(cluster, "web", 24, "1", "1500Mi");
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    for (const auto& claim : result.claims) CHECK(claim.cpu_cores <= 4);
    CHECK(price_of(result) == 24 * 4 + 24 * 2);
}

TEST_CASE("stated prices decide: where memory costs nothing the fewest CPUs are taken") {
    auto cluster = fixed_sizes();
    cluster.pools[0].prices = {1, 0, 0};
    add_pods(cluster, "cache", 15, "500m", "3Gi");
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.price.is_stated);
    // 45 GiB need 12 cores with 4 GiB each. Machines with two GiB per core would take twice as many.
    CHECK(result.price.machines == 12);
}

TEST_CASE("a price of each machine makes fewer and larger ones cheaper") {
    auto cluster = fixed_sizes();
    add_pods(cluster, "web", 8, "1", "1500Mi");
    const auto split = solve(cluster);
    cluster.pools[0].prices.machine = 100;
    const auto whole = solve(cluster);
    CHECK(whole.unplaced.empty());
    CHECK(whole.claims.size() == 1);
    CHECK(whole.price.machines == price_of(whole) + 100);
    CHECK(split.price.machines < whole.price.machines);
    CHECK_FALSE(split.price.is_stated);
}

TEST_CASE("of pools of equal weight the one whose machine costs less is taken, whatever its size") {
    auto cluster = fixed_sizes();
    cluster.pools.push_back(cluster.pools[0]);
    cluster.pools[1].name = "old-hardware";
    cluster.pools[1].shapes = {shape(16, 64)};
    cluster.pools[1].prices = {0.1, 0.01, std::nullopt};
    add_pods(cluster, "web", 1, "1", "1Gi");
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].pool == 1);
}

// 4/16 holds three of the pods by its CPUs and leaves 4 GiB; 8/16 holds four and leaves nothing.
TEST_CASE("where hosts have no room for all, sizes are taken that leave nothing on them") {
    auto cluster = fixed_sizes();
    cluster.pools[0].reserved = {0, 0};
    auto& host = cluster.places[0];
    host.free_cpu_cores = 256;
    SECTION("one host") {
        host.free_memory_mib = 128 * kGiB;
    }
    SECTION("two hosts that differ") {
        host.free_memory_mib = 96 * kGiB;
        cluster.places.push_back({"other", {}, {}, 32, 32 * kGiB, {}});
        cluster.pools[0].places.push_back({1, "", {}});
    }
    add_pods(cluster, "web", 31, "1100m", "4Gi");
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    std::size_t placed = 0;
    for (const auto& claim : result.claims) placed += claim.pods.size();
    CHECK(placed == 31);
}
