// Of the ways to fill machines the cheapest is taken, and no rule is broken for it.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

constexpr std::int64_t kGiB = 1024;  // in MiB

scheduling::Shape shape(std::int64_t cpu_cores, std::int64_t gib) {
    scheduling::Shape shape;
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

std::int64_t price_of(const scheduling::Result& result) {
    std::int64_t price = 0;
    for (const auto& claim : result.claims)
        price += api::v1alpha1::cost_in_mib(claim.cpu_cores, claim.memory_mib);
    return price / kGiB;
}

}  // namespace

TEST_CASE("pods that need CPUs are not given the memory of the largest machines") {
    auto cluster = fixed_sizes();
    add_pods(cluster, "web", 64, "1", "1500Mi");
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    // 64 cores, two GiB beside each: 8 machines of 8/16, or as many of its halves. The largest cost 512.
    CHECK(price_of(result) == 64 * 4 + 64 * 2);
    CHECK(result.price.machines == price_of(result) * kGiB);
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
