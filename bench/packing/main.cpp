// bench-packing [--mixes N]: what machines of fixed sizes for mixes of pods drawn at random cost, against the
// least that they could: the linear bound, in which machines come in fractions. Exit code 1: a bound of
// docs/performance.md is broken.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>

#include "api/v1alpha1/common.hpp"
#include "bench/cpu_time.hpp"
#include "scheduling/packing/linear_bound.hpp"
#include "scheduling/solver.hpp"

namespace {

enum class Shape { cpu_heavy, memory_heavy, mixed, giants };
constexpr std::array kShapes = {Shape::cpu_heavy, Shape::memory_heavy, Shape::mixed, Shape::giants};
constexpr std::array kShapeNames = {"CPU-heavy", "memory-heavy", "mixed", "a few giants"};

struct Goal {
    std::size_t pods = 0;
    double median = 0;
    double worst = 0;
};
constexpr std::array kGoals = {Goal{100, 1.10, 1.15}, Goal{1000, 1.05, 1.10}, Goal{10000, 1.05, 1.10}};
constexpr double kFlexible = 1.02;

constexpr std::int64_t kReservedMillicores = 200;
constexpr std::int64_t kReservedMiB = 512;

struct Request {
    std::int64_t millicores = 0;
    std::int64_t mebibytes = 0;
};

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}

    Request request(Shape shape, std::size_t number) {
        if (shape == Shape::giants && number % 50 == 0)
            return {std::llround(between(6, 14) * 1000), std::llround(between(16, 56) * 1024)};
        const auto cores = std::exp(between(std::log(0.1), std::log(2.5)));
        const auto ratio = shape == Shape::cpu_heavy      ? between(0.5, 2)
                           : shape == Shape::memory_heavy ? between(4, 10)
                                                          : between(0.5, 8);
        // As people write them.
        return {std::max(50L, std::lround(cores * 20) * 50),
                std::max(64L, std::lround(cores * ratio * 16) * 64)};
    }

private:
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
    }
    std::mt19937_64 random_;
};

std::shared_ptr<const api::Pod> pod_of(const Request& request, std::size_t number) {
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.name = "pod-" + std::to_string(number);
    pod->metadata.namespace_ = "default";
    auto& requests = pod->spec.containers->emplace_back().resources.requests;
    requests["cpu"] = api::Quantity::of_milli(request.millicores);
    requests["memory"] = api::Quantity::of_mebibytes(request.mebibytes);
    return pod;
}

scheduling::Snapshot cluster(bool is_flexible) {
    scheduling::Snapshot snapshot;
    auto& pool = snapshot.pools.emplace_back();
    pool.name = "pool";
    pool.namespace_ = "default";
    pool.reserved = {kReservedMillicores, kReservedMiB};
    if (is_flexible) {
        pool.flexible.cpuCores = {1, 16, 1};
        pool.flexible.memoryMiB = {1024, 65536, 256};
    } else {
        for (const auto& [cores, gibibytes] : {std::pair{2, 4}, {4, 8}, {4, 16}, {8, 16}, {8, 32}, {16, 64}})
            pool.shapes.push_back(
                {std::to_string(cores) + "-" + std::to_string(gibibytes), cores, gibibytes * 1024});
    }
    pool.places.push_back({0, "", {}});
    snapshot.places.push_back({"host", {}, {}, {}});
    return snapshot;
}

// What machines of these sizes offer, and what they cost.
std::vector<scheduling::PricedRoom> rooms_of(const scheduling::Pool& pool) {
    std::vector<scheduling::PricedRoom> rooms;
    const auto add = [&](std::int64_t cores, std::int64_t mebibytes) {
        rooms.push_back({static_cast<double>(cores * 1000 - kReservedMillicores),
                         static_cast<double>(mebibytes - kReservedMiB),
                         scheduling::Prices().of({cores, mebibytes})});
    };
    for (const auto& shape : pool.shapes) add(shape.cpu_cores, shape.memory_mib);
    if (!pool.shapes.empty()) return rooms;
    const auto& memory = pool.flexible.memoryMiB;
    for (auto cores = pool.flexible.cpuCores.min; cores <= pool.flexible.cpuCores.max; ++cores)
        for (auto mebibytes = memory.min; mebibytes <= memory.max; mebibytes += memory.step)
            add(cores, mebibytes);
    return rooms;
}

struct Figures {
    std::vector<double> ratios;  // price / bound
    double cpu_seconds = 0;
    std::size_t machines = 0;
    std::size_t pods = 0;
};

void solve_one(Shape shape, std::size_t pods, bool is_flexible, std::uint64_t seed, Figures& figures) {
    auto snapshot = cluster(is_flexible);
    Draw draw(seed);
    double cpu = 0, memory = 0;
    for (std::size_t i = 0; i < pods; ++i) {
        const auto request = draw.request(shape, i);
        cpu += static_cast<double>(request.millicores);
        memory += static_cast<double>(request.mebibytes);
        snapshot.pods.push_back(pod_of(request, i));
    }
    const auto start = bench::cpu_seconds();
    const auto result = scheduling::solve(snapshot);
    figures.cpu_seconds += bench::cpu_seconds() - start;
    if (!result.unplaced.empty()) throw std::runtime_error("a pod found no place");
    double price = 0;
    for (const auto& claim : result.claims)
        price += scheduling::Prices().of({claim.cpu_cores, claim.memory_mib});
    const auto worth = scheduling::LinearBound(rooms_of(snapshot.pools[0])).worth(cpu, memory);
    figures.ratios.push_back(price / worth.of(cpu, memory));
    figures.machines += result.claims.size();
    figures.pods += pods;
}

// Whether the goal is met.
bool measure(std::size_t pods, bool is_flexible, int mixes, double median, double worst) {
    bool is_met = true;
    for (std::size_t shape = 0; shape < kShapes.size(); ++shape) {
        Figures figures;
        for (int mix = 0; mix < mixes; ++mix)
            solve_one(kShapes[shape], pods, is_flexible, static_cast<std::uint64_t>(mix) + 1, figures);
        std::ranges::sort(figures.ratios);
        const auto middle = figures.ratios[figures.ratios.size() / 2];
        const auto last = figures.ratios.back();
        std::printf(
            "%-8s %6zu pods  %-12s  median %.3f (at most %.2f)  worst %.3f (at most %.2f)  "
            "%.1f machines  %.0f pods per CPU second\n",
            is_flexible ? "flexible" : "fixed", pods, kShapeNames[shape], middle, median, last, worst,
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
