// Whether machines created instead of nodes are worth the moves of their pods.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace controllers::disruption {

// What machines launched instead have to save of the price.
inline constexpr std::int64_t kLeastSavingPercent = 25;

// What the machines of the nodes cost; those of no pool nothing.
double price_of_nodes(const scheduling::Snapshot& snapshot, const std::vector<std::size_t>& nodes);

bool saves_enough(double before, double after);
std::string saves_too_little();

}  // namespace controllers::disruption
