// bench-packing [--mixes N]: Measures the cost of machines of fixed sizes for random mixes of pods. It
// compares the cost with the linear bound, which allows fractions of machines. Exit code 1: a limit of
// docs/performance.md is exceeded.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "bench/cpu_time.hpp"
#include "bench/packing/mixes.hpp"
#include "scheduling/solver.hpp"

namespace {

struct Goal {
    std::size_t pods = 0;
    double median = 0;
    double worst = 0;
};
constexpr std::array kGoals = {Goal{100, 1.10, 1.15}, Goal{1000, 1.05, 1.10}, Goal{10000, 1.05, 1.10}};
constexpr double kFlexible = 1.02;

struct Figures {
    std::vector<double> ratios;  // price / bound
    double cpu_seconds = 0;
    std::size_t machines = 0;
    std::size_t pods = 0;
};

void solve_one(bench::Shape shape, std::size_t pods, bool is_flexible, std::uint64_t seed, Figures& figures) {
    auto snapshot = bench::cluster_for_mixes(is_flexible);
    bench::Draw draw(seed);
    double cpu = 0, memory = 0;
    for (std::size_t i = 0; i < pods; ++i) {
        const auto request = draw.request(shape, i);
        cpu += static_cast<double>(request.millicores);
        memory += static_cast<double>(request.mebibytes);
        snapshot.pods.push_back(bench::pod_of(request, i));
    }
    const auto start = bench::cpu_seconds();
    const auto result = scheduling::solve(snapshot);
    figures.cpu_seconds += bench::cpu_seconds() - start;
    if (!result.unplaced.empty()) throw std::runtime_error("a pod found no place");
    double price = 0;
    for (const auto& claim : result.claims)
        price += scheduling::Prices().of({claim.cpu_cores, claim.memory_mib});
    const auto worth = scheduling::LinearBound(bench::rooms_of(snapshot.pools[0])).worth(cpu, memory);
    figures.ratios.push_back(price / worth.of(cpu, memory));
    figures.machines += result.claims.size();
    figures.pods += pods;
}

// Reports whether the goal is met.
bool measure(std::size_t pods, bool is_flexible, int mixes, double median, double worst) {
    bool is_met = true;
    for (std::size_t shape = 0; shape < bench::kShapes.size(); ++shape) {
        Figures figures;
        for (int mix = 0; mix < mixes; ++mix)
            solve_one(bench::kShapes[shape], pods, is_flexible, static_cast<std::uint64_t>(mix) + 1, figures);
        std::ranges::sort(figures.ratios);
        const auto middle = figures.ratios[figures.ratios.size() / 2];
        const auto last = figures.ratios.back();
        std::printf(
            "%-8s %6zu pods  %-12s  median %.3f (at most %.2f)  worst %.3f (at most %.2f)  "
            "%.1f machines  %.0f pods per CPU second\n",
            is_flexible ? "flexible" : "fixed", pods, bench::kShapeNames[shape], middle, median, last, worst,
            static_cast<double>(figures.machines) / mixes,
            static_cast<double>(figures.pods) / figures.cpu_seconds);
        std::fflush(stdout);
        is_met = is_met && middle <= median && last <= worst;
    }
    return is_met;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures what machines cost, against the least that they could.");
    int mixes = 200;
    app.add_option("--mixes", mixes, "How many of each kind")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        bool is_met = true;
        for (const auto& goal : kGoals)
            is_met = measure(goal.pods, false, mixes, goal.median, goal.worst) && is_met;
        is_met = measure(1000, true, mixes, kFlexible, kFlexible) && is_met;
        return is_met ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench-packing: %s\n", error.what());
        return 1;
    }
}
