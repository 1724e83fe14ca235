// Ends a series of replacements: if a replacement shows the same cause as its
// predecessor, it is not replaced again. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/disruption/facts/blocker.hpp"
#include "controllers/disruption/rules/facts.hpp"

namespace controllers::disruption {

// Returns what a replacement would have to show again for the series to end. It consists of the kind and the
// affected part of the configuration or node state. Empty: nodes of this kind are not replaced.
std::string cause_of(const NodeFacts& facts, Kind kind);

// Returns why the node is not replaced for this kind of disruption. Its machine was created to replace one
// for the same cause. Drift, expiry and evacuation end the series after one replacement that does not help. A
// node that is not Ready or is underused gets a second one.
std::optional<Blocker> series_blocker(const NodeFacts& facts, Kind kind, api::Time now);

}  // namespace controllers::disruption
