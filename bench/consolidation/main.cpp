// bench-consolidation: Measures the cost of clusters with random nodes and random pods, before and after
// their consolidation. Nodes are removed one decision at a time. It compares the cost with the linear bound,
// the lowest possible cost of machines for their pods. Evicted pods get the default places of the
// kube-scheduler, in a random order. Exit code 1: a pod found no place, or a stable cluster changed again.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/consolidation/fleet.hpp"
#include "bench/cpu_time.hpp"

namespace {

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

struct Figures {
    std::vector<double> before;  // price / bound
    std::vector<double> after;
    bench::Moves moves;
    std::size_t later = 0;  // nodes removed when all were tried once more
    double cpu_seconds = 0;
};

Figures measure(bench::Shape shape, int clusters, const bench::Rules& rules) {
    Figures figures;
    for (int cluster = 0; cluster < clusters; ++cluster) {
        bench::Fleet fleet(shape, static_cast<std::uint64_t>(cluster) + 1, rules);
        figures.before.push_back(fleet.price() / fleet.bound());
        const auto start = bench::cpu_seconds();
        fleet.come_to_rest();
        figures.cpu_seconds += bench::cpu_seconds() - start;
        figures.after.push_back(fleet.price() / fleet.bound());
        const auto moves = fleet.moves();
        fleet.come_to_rest();
        figures.later += fleet.moves().removed - moves.removed;
        figures.moves.removed += moves.removed;
        figures.moves.created += moves.created;
        figures.moves.stranded += moves.stranded;
    }
    return figures;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures what consolidation saves, and how much it moves.");
    int clusters = 200;
    bench::Rules rules;
    app.add_option("--clusters", clusters, "How many of each kind")->check(CLI::PositiveNumber);
    app.add_option("--nodes", rules.nodes, "Of each cluster")->check(CLI::PositiveNumber);
    app.add_option("--threshold", rules.threshold_percent, "scaleDown.utilizationThresholdPercent");
    app.add_option("--price-threshold", rules.price_threshold_percent, "scaleDown.priceThresholdPercent");
    app.add_option("--headroom", rules.headroom_percent, "scaleDown.headroomPercent");
    app.add_option("--together", rules.together, "scaleDown.maxConcurrent")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    bool is_good = true;
    for (std::size_t shape = 0; shape < bench::kShapes.size(); ++shape) {
        const auto figures = measure(bench::kShapes[shape], clusters, rules);
        const auto each = [&](std::size_t sum) { return static_cast<double>(sum) / clusters; };
        std::printf(
            "%-12s  price/bound before %.3f, after %.3f (worst %.3f)  nodes removed %.1f, created %.1f, "
            "later %.1f  pods without a place %.2f  %.2f CPU seconds\n",
            bench::kShapeNames[shape], median(figures.before), median(figures.after),
            std::ranges::max(figures.after), each(figures.moves.removed), each(figures.moves.created),
            each(figures.later), each(figures.moves.stranded), figures.cpu_seconds / clusters);
        std::fflush(stdout);
        is_good = is_good && figures.later == 0;
    }
    return is_good ? 0 : 1;
}
