// Decides whether machines created in place of nodes justify moving their pods.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace controllers::disruption {

// Replacement machines must save this percentage of the price.
inline constexpr std::int64_t kLeastSavingPercent = 25;

// Returns the price of the nodes' machines; nodes of no pool cost nothing.
double price_of_nodes(const scheduling::Snapshot& snapshot, const std::vector<std::size_t>& nodes);

bool saves_enough(double before, double after);
std::string saves_too_little();

}  // namespace controllers::disruption
