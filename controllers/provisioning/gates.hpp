// Decides whether a pool may launch now, how much in one decision, and why not. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/state/failure_pause.hpp"
#include "controllers/state/losses.hpp"

namespace controllers::provisioning {

struct GateFacts {
    const NodeSmithPool& pool;
    const NodeSmithControlPlane* manager = nullptr;  // null: the pool is not managed
    const NodeSmithProvider* provider = nullptr;     // null: it does not exist
    const NodeSmithPool* label_conflict = nullptr;
    PoolCounts counts;                       // counts of the pool
    PoolCounts manager_counts;               // counts of all pools of its manager
    std::int64_t creations_last_hour = 0;    // by its manager
    std::optional<api::Time> unknown_until;  // until then unknown claims may still appear
    std::string last_failure;                // set while the pool backs off; see controllers::last_failure()
    Probe probe;                             // state after others removed replacements
    Trial trial;                             // state after its claims failed
    std::int64_t under_way = 0;              // its claims that are being created at the API server
    std::vector<ClaimRefusal> refusals;      // refusals of its claims whose pause has not ended
    api::Time refused_until;                 // when the first of these pauses ends
    std::string without_certificate;  // which claim gets no certificate, and why; empty: none is refused one
};

struct LaunchGate {
    bool open = false;
    std::string reason;                 // if closed: CamelCase
    std::string message;                // if closed: for people
    std::optional<api::Time> opens_at;  // if it opens by time alone
    bool for_a_while = false;           // if closed: by its own recent launches or failures
    // If open: limit of the claims that this decision may create.
    std::int64_t most_claims = std::numeric_limits<std::int64_t>::max();
};

LaunchGate gate_of(const GateFacts& facts, api::Time now);

// Returns "the API server refuses its claims for machines of 2 CPUs and 4096 MiB: <its words>".
std::string refusal_text(const ClaimRefusal& refusal);

// Reports whether the control plane decides and reports but takes no action.
bool observes_only(const NodeSmithControlPlane& manager);

}  // namespace controllers::provisioning
