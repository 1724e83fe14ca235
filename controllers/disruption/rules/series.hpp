// The end of a series: a replacement that shows the same cause as the machine that it replaced is not
// replaced again. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/disruption/rules/facts.hpp"
#include "controllers/state/blocker.hpp"

namespace controllers::disruption {

// Returns what a replacement would have to show again for the series to end: the kind, and the part of the
// configuration or of the node's state that it is about. Empty: nodes of this kind are not replaced.
std::string cause_of(const NodeFacts& facts, Kind kind);

// Returns why the node is not replaced for this kind of disruption: its own machine was created to replace
// one for the same cause. A difference from the configuration, an age, and a host that is evacuated end it
// with the first replacement that does not help. A node that is not Ready, or hardly used, gets a second one.
std::optional<Blocker> series_blocker(const NodeFacts& facts, Kind kind, api::Time now);

}  // namespace controllers::disruption
