// Tests how many machines a required spread needs: no more than its skew demands.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

const std::string kHostname(api::labels::kHostname);
const std::string kZone(api::labels::kZone);

// Returns 40 pods of 1 CPU, on machines of 8.
scheduling::Snapshot spread_pods(const std::string& topology_key, int count = 40) {
    auto cluster = snapshot();
    cluster.pools[0].flexible.cpuCores = {1, 8, 1};
    for (int i = 0; i < count; ++i) {
        PodBuilder pod("web-" + std::to_string(i), "1", "1Gi");
        cluster.pods.push_back(pod.label("app", "web").spread_over(topology_key));
    }
    return cluster;
}

}  // namespace

TEST_CASE("40 pods that are spread over nodes get as many machines as they fill") {
    auto cluster = spread_pods(kHostname);
    SECTION("of flexible sizes") {}
    SECTION("of fixed sizes") {
        cluster.pools[0].shapes = {{"small", 2, 4096}, {"large", 8, 16384}};
    }
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() <= 6);
}

TEST_CASE("pods that are spread over nodes fill those that are there first") {
    auto cluster = spread_pods(kHostname);
    for (const auto* name : {"a", "b", "c"}) cluster.nodes.push_back(node(name, "8", "16Gi"));
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() <= 3);
}

TEST_CASE("40 pods that are spread over zones get as many machines as they fill") {
    auto cluster = spread_pods(kZone);
    add_places(cluster, {"host-b", "host-c"});
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() <= 6);
}

TEST_CASE("who wants a spread over more nodes says so with minDomains") {
    auto cluster = spread_pods(kHostname, 0);
    for (int i = 0; i < 40; ++i) {
        PodBuilder pod("web-" + std::to_string(i), "1", "1Gi");
        pod.label("app", "web").spread_over(kHostname);
        pod.pod.spec.topologySpreadConstraints->back().minDomains = 10;
        cluster.pods.push_back(pod);
    }
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() == 10);
}

TEST_CASE("pods that are spread over nodes are not moved to more machines while theirs are coming") {
    auto cluster = spread_pods(kHostname);
    const auto result = solve(cluster);
    const auto next = solve(after(cluster, result));
    CHECK(next.claims.empty());
    CHECK(next.unplaced.empty());
}

TEST_CASE("a node that is full and has none of them keeps pods of a spread to one a machine") {
    auto cluster = spread_pods(kHostname, 5);
    cluster.nodes.push_back(node("full", "1", "1Gi"));
    cluster.nodes[0].pods = {PodBuilder("other", "1", "1Gi")};
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() == 5);
}

TEST_CASE("larger pods that only prefer a spread do not fill the machines of those that require one") {
    auto cluster = spread_pods(kHostname, 0);
    cluster.preferences = scheduling::PreferencePolicy::where_free;
    for (int i = 0; i < 64; ++i) {
        const bool is_required = i % 2 == 0;
        const std::string app = is_required ? "hard" : "soft";
        PodBuilder pod(app + std::to_string(i), is_required ? "400m" : "500m", "512Mi");
        pod.label("app", app).spread_over(kHostname);
        if (!is_required)
            pod.pod.spec.topologySpreadConstraints->back().whenUnsatisfiable =
                api::UnsatisfiableConstraintAction::ScheduleAnyway;
        cluster.pods.push_back(pod);
    }
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(result.claims.size() <= 5);
}

TEST_CASE("1,100 small pods of many kinds share machines") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b", "host-c"});
    cluster.preferences = scheduling::PreferencePolicy::where_free;
    cluster.pools[0].shapes = {{"small", 2, 4096}, {"medium", 4, 8192}, {"large", 8, 16384}};
    for (int i = 0; i < 1100; ++i) {
        const auto app = "app-" + std::to_string(i % 11);
        PodBuilder pod(app + "-" + std::to_string(i), i % 2 == 0 ? "250m" : "500m",
                       i % 3 == 0 ? "1Gi" : "512Mi");
        pod.label("app", app);
        if (i % 11 < 3) pod.spread_over(kHostname);
        if (i % 11 == 3) pod.spread_over(kZone);
        if (i % 11 == 4) pod.spread_over(kZone).spread_over(kHostname);
        cluster.pods.push_back(pod);
    }
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    // 413 cores and 734 GiB need 52 machines by CPU.
    CHECK(result.claims.size() <= 62);
    CHECK(solve(after(cluster, result)).claims.empty());
}

// The kube-scheduler counts only zones that have nodes, so all pods would land in the one zone.
TEST_CASE("pods that are spread over zones and over nodes get machines in each zone") {
    auto cluster = snapshot();
    add_places(cluster, {"host-b", "host-c"});
    for (int i = 0; i < 9; ++i) {
        PodBuilder pod("web-" + std::to_string(i), "1", "1Gi");
        cluster.pods.push_back(pod.label("app", "web").spread_over(kZone).spread_over(kHostname));
    }
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    std::map<std::size_t, std::size_t> pods_in;
    for (const auto& claim : result.claims) pods_in[claim.place] += claim.pods.size();
    CHECK(pods_in == std::map<std::size_t, std::size_t>{{0, 3}, {1, 3}, {2, 3}});
}
