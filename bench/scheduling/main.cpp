// bench-scheduling: Measures the time of one solve. Prints one line of figures.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "bench/cpu_time.hpp"
#include "bench/scheduling/workload.hpp"
#include "scheduling/solver.hpp"

namespace {

struct Options {
    std::string mix = "diverse";
    std::string workload;
    std::size_t pods = 1000;
    std::size_t threads = 1;
    bool ignore_preferences = false;
    bool busy = false;
    bool warm = false;
    int samples = 1;
};

double peak_mebibytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void measure(scheduling::Solver& solver, const scheduling::Snapshot& snapshot) {
    const auto wall = std::chrono::steady_clock::now();
    const auto cpu = bench::cpu_seconds();
    const auto result = solver.solve(snapshot);
    const auto cpu_used = bench::cpu_seconds() - cpu;
    const std::chrono::duration<double> wall_used = std::chrono::steady_clock::now() - wall;
    std::printf(
        "pods=%zu nodes=%zu price=%.0f unscheduled=%zu wall_seconds=%.6f cpu_seconds=%.6f "
        "pods_per_cpu_second=%.0f peak_mib=%.1f\n",
        snapshot.pods.size(), result.claims.size(), result.price.machines, result.unplaced.size(),
        wall_used.count(), cpu_used, static_cast<double>(snapshot.pods.size()) / cpu_used, peak_mebibytes());
}

void run(const Options& options) {
    const auto cluster = options.busy ? bench::busy_cluster() : bench::empty_cluster();
    auto snapshot = cluster;
    snapshot.pods = options.workload.empty() ? bench::make_pods(options.mix, options.pods)
                                             : bench::read_pods(options.workload);
    if (options.ignore_preferences) snapshot.preferences = scheduling::PreferencePolicy::ignore;
    for (int i = 0; i < options.samples; ++i) {
        scheduling::Solver solver;
        if (options.warm) solver.solve(cluster);
        measure(solver, snapshot);
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures one solve of the scheduling engine, from cold unless told otherwise.");
    Options options;
    app.add_option("--mix", options.mix, "Kind of pods")->check(CLI::IsMember(bench::mixes()));
    app.add_option("--pods", options.pods, "How many pods");
    app.add_option("--workload", options.workload,
                   "Read pods from a file instead, as JSON lines (may be .gz)");
    app.add_option("--threads", options.threads, "Accepted for comparisons; a solve uses one thread");
    app.add_flag("--ignore-preferences", options.ignore_preferences, "Do not respect preferences");
    app.add_flag("--busy", options.busy, "On a cluster of 1,000 nodes with 30,000 running pods");
    app.add_flag("--warm", options.warm, "The solver has seen the cluster before, without these pods");
    app.add_option("--samples", options.samples, "How often, a line for each");
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
    } catch (const std::exception& error) {
        std::cerr << "bench-scheduling: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
