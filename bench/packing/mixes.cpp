#include "bench/packing/mixes.hpp"

#include <algorithm>

#include "scheduling/input/prices.hpp"

namespace bench {

namespace {

constexpr std::int64_t kReservedMillicores = 200;
constexpr std::int64_t kReservedMiB = 512;

}  // namespace

double Draw::between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
}

Request Draw::request(Shape shape, std::size_t number) {
    if (shape == Shape::giants && number % 50 == 0)
        return {std::llround(between(6, 14) * 1000), std::llround(between(16, 56) * 1024)};
    const auto cores = std::exp(between(std::log(0.1), std::log(2.5)));
    const auto ratio = shape == Shape::cpu_heavy      ? between(0.5, 2)
                       : shape == Shape::memory_heavy ? between(4, 10)
                                                      : between(0.5, 8);
    // Rounded to values that people write.
    return {std::max(50L, std::lround(cores * 20) * 50), std::max(64L, std::lround(cores * ratio * 16) * 64)};
}

std::shared_ptr<const api::Pod> pod_of(const Request& request, std::size_t number) {
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.name = "pod-" + std::to_string(number);
    pod->metadata.namespace_ = "default";
    auto& requests = pod->spec.containers->emplace_back().resources.requests;
    requests["cpu"] = api::Quantity::of_milli(request.millicores);
    requests["memory"] = api::Quantity::of_mebibytes(request.mebibytes);
    return pod;
}

scheduling::Snapshot cluster_for_mixes(bool is_flexible) {
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

}  // namespace bench
