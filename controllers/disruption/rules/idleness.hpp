// Since when nodes are empty or hardly used. Pure.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "controllers/disruption/rules/facts.hpp"

namespace controllers::disruption {

// A node is launched for pods that are bound within moments of its readiness: how long its emptiness is not
// yet worth a note; nullopt: it is.
std::optional<base::Duration> settles_in(const NodeFacts& facts, api::Time now);

// What the facts say of it, brought up to date.
std::optional<api::Time> empty_since(const NodeFacts& facts, api::Time now);
std::optional<api::Time> unneeded_since(const NodeFacts& facts, api::Time now);

// Whether it was hardly used for long enough: then a smaller machine may be launched instead.
bool is_hardly_used(const NodeFacts& facts, api::Time now);

}  // namespace controllers::disruption
