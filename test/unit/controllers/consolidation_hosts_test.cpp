// Tests replacements by machines each of which takes a whole host.
#include "controllers/disruption/rules/consolidation_search.hpp"
#include "scheduling/removal.hpp"
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using controllers::disruption::find_consolidation;
using controllers::disruption::Search;

namespace {

void add_free_host(scheduling::Snapshot& snapshot, const std::string& name, std::int64_t cpu_cores) {
    auto host = place(name);
    host.free_cpu_cores = cpu_cores;
    host.free_memory_mib = cpu_cores * 4096;
    host.free_machines = 1;
    host.is_whole = true;
    auto& metal = snapshot.pools.back();
    metal.places.push_back({snapshot.places.size(), name, {}});
    metal.shapes.push_back({std::to_string(cpu_cores), cpu_cores, cpu_cores * 4096});
    snapshot.places.push_back(std::move(host));
}

// Returns a host of 16 CPUs that one pod uses, and two free ones: one smaller, one as large.
scheduling::Snapshot rack() {
    scheduling::Snapshot snapshot;
    snapshot.pools.push_back(pool("metal"));
    snapshot.pools.back().places.clear();
    snapshot.nodes = {node("used", "16", "64Gi")};
    snapshot.nodes[0].pool = 0;
    auto& used = edit(snapshot.nodes[0]);
    used.status.capacity = used.status.allocatable;
    snapshot.nodes[0].pods = {PodBuilder("web", "2").owner("ReplicaSet", "r")};
    add_free_host(snapshot, "small", 4);
    add_free_host(snapshot, "large", 16);
    return snapshot;
}

std::size_t nodes_that_go(const scheduling::Snapshot& snapshot, const Search& search) {
    scheduling::Solver solver;
    scheduling::Removals removals(solver, snapshot);
    return find_consolidation(removals, snapshot, search).nodes.size();
}

}  // namespace

TEST_CASE("the pods of a large host go to a small one that is free") {
    Search search;
    search.candidates = {0};
    CHECK(nodes_that_go(rack(), search) == 1);
}

// A waiting pod without a launch of its own would take the new machine, and another one would be launched.
TEST_CASE("no replacement is launched that a waiting pod could take") {
    Search search;
    search.candidates = {0};
    auto snapshot = rack();
    snapshot.pods = {PodBuilder("waiting", "1")};
    edit(snapshot.nodes[0]).spec.unschedulable = true;
    CHECK(nodes_that_go(snapshot, search) == 0);
    snapshot.pods = {PodBuilder("too-large-for-it", "8")};
    CHECK(nodes_that_go(snapshot, search) == 1);
}

// Otherwise pods would move from one large host to the next, while a small one is free.
TEST_CASE("a host is not given up for one that may turn out to be as large") {
    Search search;
    search.candidates = {0};
    search.generous_pools = {0};
    CHECK(nodes_that_go(rack(), search) == 0);
    auto without_large = rack();
    without_large.places.back().free_machines = 0;
    CHECK(nodes_that_go(without_large, search) == 1);
}

TEST_CASE("a node is removed for its price only if the other machine costs less") {
    Search search;
    search.candidates = {0};
    auto snapshot = rack();
    auto& prices = snapshot.pools[0].prices;
    SECTION("each machine costs the same") {
        prices = {0, 0, 10};
        CHECK(nodes_that_go(snapshot, search) == 0);
    }
    SECTION("memory costs nothing") {
        prices = {1, 0, 0};
        CHECK(nodes_that_go(snapshot, search) == 1);
    }
}

// Otherwise a machine would be replaced by an equal one again and again.
TEST_CASE("memory that a Node shows beyond its machine's size is nothing to save") {
    Search search;
    search.candidates = {0};
    scheduling::Snapshot snapshot;
    snapshot.pools.push_back(pool("virtual"));
    snapshot.places.push_back(place("host"));
    snapshot.pools[0].prices.cpu_core = 0;
    snapshot.pools[0].shapes = {{"only", 4, 1536}};
    snapshot.nodes = {node("used", "4", "2Gi")};
    snapshot.nodes[0].pool = 0;
    auto& used = edit(snapshot.nodes[0]);
    used.status.capacity = used.status.allocatable;
    snapshot.nodes[0].pods = {PodBuilder("web", "1", "512Mi").owner("ReplicaSet", "r")};
    CHECK(nodes_that_go(snapshot, search) == 1);
    snapshot.pools[0].memory_overhead_mib = 512;
    CHECK(nodes_that_go(snapshot, search) == 0);
}
