#include "scheduling/packing/linear_bound.hpp"

#include <algorithm>
#include <tuple>

namespace scheduling {

namespace {

// Yield is what a machine gives for its price.
struct Yield {
    double cpu = 0;
    double memory = 0;
};

double turn(const Yield& a, const Yield& b, const Yield& c) {
    return (b.cpu - a.cpu) * (c.memory - a.memory) - (b.memory - a.memory) * (c.cpu - a.cpu);
}

// Returns the part of the convex hull that faces away from zero, from most memory to most CPU. All
// others are mixtures of two of these.
std::vector<Yield> frontier(const std::vector<PricedRoom>& rooms) {
    std::vector<Yield> yields;
    for (const auto& room : rooms)
        if (room.cpu > 0 && room.memory > 0)
            yields.push_back({room.cpu / room.price, room.memory / room.price});
    std::ranges::sort(yields, [](const Yield& a, const Yield& b) {
        return std::tie(a.cpu, a.memory) < std::tie(b.cpu, b.memory);
    });
    std::vector<Yield> hull;
    for (const auto& yield : yields) {
        while (!hull.empty() && hull.back().memory <= yield.memory) hull.pop_back();
        while (hull.size() > 1 && turn(hull[hull.size() - 2], hull.back(), yield) >= 0) hull.pop_back();
        hull.push_back(yield);
    }
    return hull;
}

}  // namespace

LinearBound::LinearBound(const std::vector<PricedRoom>& rooms) {
    const auto hull = frontier(rooms);
    if (hull.empty()) return;
    corners_.push_back({0, 1 / hull.front().memory});
    for (std::size_t i = 0; i + 1 < hull.size(); ++i) {
        const auto& [cpu, memory] = hull[i];
        const auto& [more_cpu, less_memory] = hull[i + 1];
        const auto determinant = cpu * less_memory - more_cpu * memory;
        corners_.push_back({(less_memory - memory) / determinant, (cpu - more_cpu) / determinant});
    }
    corners_.push_back({1 / hull.back().cpu, 0});
}

Worth LinearBound::worth(double cpu, double memory) const {
    Worth best;
    for (const auto& corner : corners_)
        if (corner.of(cpu, memory) > best.of(cpu, memory)) best = corner;
    return best;
}

}  // namespace scheduling
