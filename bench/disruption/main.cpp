// bench-disruption: Measures the time of one consolidation decision. Prints a line of figures for each
// situation.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <numeric>

#include "bench/cpu_time.hpp"
#include "bench/scheduling/workload.hpp"
#include "controllers/disruption/rules/consolidation_search.hpp"
#include "scheduling/removal.hpp"

namespace {

using controllers::disruption::Search;

// Sets the capacity of nodes, which is compared with a machine launched instead.
scheduling::Snapshot with_capacity(scheduling::Snapshot snapshot) {
    for (auto& node : snapshot.nodes) {
        auto object = std::make_shared<api::Node>(*node.node);
        object->status.capacity = object->status.allocatable;
        node.node = object;
    }
    return snapshot;
}

// Returns nodes so full that no pod fits anywhere else: every candidate is tried without success.
scheduling::Snapshot full_cluster() {
    auto snapshot = bench::busy_cluster();
    for (auto& node : snapshot.nodes) {
        std::int64_t cpu = 0;
        for (const auto& pod : node.pods)
            for (const auto& container : pod->spec.containers)
                if (const auto found = container.resources.requests.find("cpu");
                    found != container.resources.requests.end())
                    cpu += found->second.milli();
        auto object = std::make_shared<api::Node>(*node.node);
        object->status.allocatable["cpu"] = api::Quantity::of_milli(cpu);
        node.node = object;
    }
    for (auto& pool : snapshot.pools) pool.closed = "is closed for the measurement";
    return with_capacity(std::move(snapshot));
}

void measure(const char* situation, const scheduling::Snapshot& snapshot, std::size_t most_nodes, bool warm) {
    scheduling::Solver solver;
    if (warm) solver.solve(snapshot);
    Search search;
    search.candidates.resize(snapshot.nodes.size());
    std::iota(search.candidates.begin(), search.candidates.end(), std::size_t{0});
    search.most_nodes = most_nodes;
    const auto begun = bench::cpu_seconds();
    scheduling::Removals removals(solver, snapshot);
    const auto found = find_consolidation(removals, snapshot, search);
    std::size_t pods = 0;
    for (const auto& node : snapshot.nodes) pods += node.pods.size();
    std::printf("situation=%s nodes=%zu pods=%zu most_nodes=%zu removed=%zu refused=%zu cpu_seconds=%.6f\n",
                situation, snapshot.nodes.size(), pods, most_nodes, found.nodes.size(), found.refused.size(),
                bench::cpu_seconds() - begun);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures one consolidation decision for 1,000 nodes with 30,000 pods.");
    bool warm = false;
    app.add_flag("--warm", warm, "The solver has seen the cluster before, as in a running operator");
    CLI11_PARSE(app, argc, argv);
    const auto busy = with_capacity(bench::busy_cluster());
    measure("busy", busy, 1, warm);
    measure("busy", busy, 100, warm);
    const auto full = full_cluster();
    measure("full", full, 1, warm);
    measure("full", full, 100, warm);
    return 0;
}
