// Fills machines of fixed sizes as cheaply as possible, one after the other. Each gets the pod that
// is hardest to place, and then pods that match its remaining room. The size of
// each machine holds the most for its price. Only requests and room are considered.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "scheduling/packing/linear_bound.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

// PodsAlike groups pods with the same requests.
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

// Returns the machines. Pods that fit no option are in none.
std::vector<PackedMachine> pack(const std::vector<PodsAlike>& kinds,
                                const std::vector<MachineOption>& options);

}  // namespace scheduling
