// Tests bare metal: a host is launched as a whole or not at all.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

void add_host(scheduling::Snapshot& snapshot, const std::string& name, std::int64_t cpu_cores) {
    auto& metal = snapshot.pools.back();
    scheduling::Place host = place(name);
    host.free_cpu_cores = cpu_cores;
    host.free_memory_mib = cpu_cores * 4096;
    host.free_machines = 1;
    host.is_whole = true;
    metal.places.push_back({snapshot.places.size(), name, {{"example.org/host", name}}});
    metal.shapes.push_back({std::to_string(cpu_cores), cpu_cores, cpu_cores * 4096});
    snapshot.places.push_back(host);
}

// Returns one pool whose hosts have 8 and 32 cores.
scheduling::Snapshot rack() {
    scheduling::Snapshot snapshot;
    snapshot.pools.push_back(pool("metal"));
    snapshot.pools.back().places.clear();
    add_host(snapshot, "small", 8);
    add_host(snapshot, "big", 32);
    return snapshot;
}

void add_pods(scheduling::Snapshot& snapshot, int count, const std::string& cpu) {
    for (int i = 0; i < count; ++i)
        snapshot.pods.push_back(PodBuilder("pod-" + std::to_string(i), cpu, "1Gi"));
}

std::vector<std::string> launched(const scheduling::Snapshot& snapshot) {
    const auto result = solve(snapshot);
    std::vector<std::string> names;
    for (const auto& claim : result.claims) {
        names.push_back(snapshot.places[claim.place].name);
        CHECK(claim.cpu_cores == snapshot.places[claim.place].free_cpu_cores);
        CHECK(claim.memory_mib == snapshot.places[claim.place].free_memory_mib);
    }
    return names;
}

}  // namespace

TEST_CASE("the smallest host that holds the pods is launched, with all that it has") {
    auto cluster = rack();
    add_pods(cluster, 3, "2");
    CHECK(launched(cluster) == std::vector<std::string>{"small"});
}

TEST_CASE("pods that outgrow the small host move to the big one together") {
    auto cluster = rack();
    add_pods(cluster, 10, "2");
    CHECK(launched(cluster) == std::vector<std::string>{"big"});
}

TEST_CASE("a host is used up by one machine") {
    auto cluster = rack();
    add_pods(cluster, 20, "2");
    CHECK(launched(cluster).size() == 2);
    CHECK(solve(cluster).unplaced.empty());
    // The pods request 48 cores, but there are 40.
    add_pods(cluster, 1, "8");
    CHECK(solve(cluster).unplaced.size() == 4);
}

TEST_CASE("a pod that names a host's label gets that host") {
    auto cluster = rack();
    auto picky = PodBuilder("picky", "1", "1Gi");
    picky.pod.spec.nodeSelector["example.org/host"] = "big";
    cluster.pods.push_back(picky);
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(result.claims[0].zone == "big");
}

TEST_CASE("virtual machines of a heavier pool come before the big server is woken") {
    auto cluster = rack();
    cluster.pools.push_back(pool("virtual"));
    cluster.pools.back().weight = 10;
    cluster.pools.back().places = {{cluster.places.size(), "hypervisor", {}}};
    auto hypervisor = place("hypervisor");
    hypervisor.free_machines = 1;
    cluster.places.push_back(hypervisor);
    add_pods(cluster, 1, "2");
    CHECK(solve(cluster).claims.at(0).pool == 1);
    cluster.pods.clear();
    add_pods(cluster, 2, "12");
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 2);
    CHECK(result.claims[0].pool != result.claims[1].pool);
}
