// Random mixes of pods, pools of machines for them, and the lowest cost of these machines.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/packing/linear_bound.hpp"

namespace bench {

enum class Shape { cpu_heavy, memory_heavy, mixed, giants };
constexpr std::array kShapes = {Shape::cpu_heavy, Shape::memory_heavy, Shape::mixed, Shape::giants};
constexpr std::array kShapeNames = {"CPU-heavy", "memory-heavy", "mixed", "a few giants"};

struct Request {
    std::int64_t millicores = 0;
    std::int64_t mebibytes = 0;
};

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}

    Request request(Shape shape, std::size_t number);
    double between(double low, double high);
    std::size_t below(std::size_t bound) { return random_() % bound; }

private:
    std::mt19937_64 random_;
};

std::shared_ptr<const api::Pod> pod_of(const Request& request, std::size_t number);

// Returns a cluster without nodes. Its pool has machines of up to 16 CPUs and 64 GiB, of six sizes or of any
// size.
scheduling::Snapshot cluster_for_mixes(bool is_flexible);

// Returns the capacity and the price of the pool's machines.
std::vector<scheduling::PricedRoom> rooms_of(const scheduling::Pool& pool);

}  // namespace bench
