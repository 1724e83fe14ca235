// How few machines a greedy packing needs: the pods by size, the largest first, each machine as large as its
// pool and a host allow. A yardstick, not an optimum.
#pragma once

#include <optional>
#include <vector>

#include "test/simulation/rooms.hpp"

namespace simulation {

struct Packed {
    std::size_t machines = 0;
    api::v1alpha1::Size size;  // of all of them together
};
// Of the pool, in these rooms, for pods that ask nothing of each other. nullopt: not all of them find a
// place.
std::optional<Packed> greedy_machines(const World& world, const NodeSmithPool& pool, std::vector<Room> rooms,
                                      std::vector<api::Pod> pods);

}  // namespace simulation
