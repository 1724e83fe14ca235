// Since when nodes are empty, or too little of them is in use. Pure.
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

// Less of its CPU and of its memory is in use than its pool's threshold.
bool is_hardly_used(const NodeFacts& facts);
// What its pods request would cost less than the pool's threshold of its price.
bool is_overpriced(const NodeFacts& facts);
// Whether it was one of these for long enough: then cheaper machines may be launched instead.
bool is_unneeded(const NodeFacts& facts, api::Time now);

}  // namespace controllers::disruption
