// Fills machines of fixed sizes as cheaply as it can: one machine after the other, each with the pod that is
// hardest to place and then with those that match what is left of it, of the size that gives most for its
// price. Knows requests and room only.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "scheduling/packing/linear_bound.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

// Pods that ask for the same.
struct PodsAlike {
    Amounts requests;
    std::size_t count = 0;
};

struct MachineOption {
    Amounts room;  // for pods, after DaemonSets
    double price = 0;
};

PricedRoom priced_room(const MachineOption& option);

struct PackedMachine {
    std::size_t option = 0;                                 // the cheapest that holds its pods
    std::vector<std::pair<std::size_t, std::size_t>> pods;  // kinds, and how many of each
};

// What fits no option is in no machine.
std::vector<PackedMachine> pack(const std::vector<PodsAlike>& kinds,
                                const std::vector<MachineOption>& options);

}  // namespace scheduling
