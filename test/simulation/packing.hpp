// Counts the machines that a greedy packing needs. It places the pods by size, the largest first, and each
// machine is as large as its pool and a host allow. The result is a yardstick, not an optimum.
#pragma once

#include <optional>
#include <vector>

#include "test/simulation/rooms.hpp"

namespace simulation {

struct Packed {
    std::size_t machines = 0;
    api::v1alpha1::Size size;  // size of all machines together
};
// Packs pods that have no constraints on each other onto machines of the pool in these rooms. Returns nullopt
// if some pod finds no place.
std::optional<Packed> greedy_machines(const World& world, const NodeSmithPool& pool, std::vector<Room> rooms,
                                      std::vector<api::Pod> pods);

}  // namespace simulation
