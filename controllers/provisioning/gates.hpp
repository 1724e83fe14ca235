// Whether a pool may launch now, how much in one decision, and why not. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/state/losses.hpp"
#include "controllers/state/pool_counts.hpp"

namespace controllers::provisioning {

struct GateFacts {
    const NodeSmithPool& pool;
    const NodeSmithControlPlane* manager = nullptr;  // null: the pool is not managed
    const NodeSmithProvider* provider = nullptr;     // null: not there
    const NodeSmithPool* label_conflict = nullptr;
    PoolCounts counts;                       // of the pool
    PoolCounts manager_counts;               // of all pools of its manager
    std::int64_t creations_last_hour = 0;    // of its manager
    std::optional<api::Time> unknown_until;  // until then claims may appear that are not known yet
    std::string last_failure;                // by controllers::last_failure(), where the pool backs off
    Probe probe;                             // after replacements were taken away by others
    std::vector<ClaimRefusal> refusals;      // of its claims, whose pause has not ended
    api::Time refused_until;                 // when the first of these pauses ends
};

struct Gate {
    bool open = false;
    std::string reason;                 // if closed: CamelCase
    std::string message;                // and for people
    std::optional<api::Time> opens_at;  // if it opens by time alone
    bool for_a_while = false;  // if closed: by what the pool launches or has launched, or just failed to
    // If open: the most claims to create in this decision.
    std::int64_t most_claims = std::numeric_limits<std::int64_t>::max();
};

Gate gate_of(const GateFacts& facts, api::Time now);

// "the API server refuses its claims for machines of 2 CPUs and 4096 MiB: <its words>".
std::string refusal_text(const ClaimRefusal& refusal);

// Decides and says, but does nothing.
bool observes_only(const NodeSmithControlPlane& manager);

}  // namespace controllers::provisioning
