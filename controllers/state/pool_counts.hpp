// What the claims and Nodes of one or more pools add up to: counts for statuses, limits and health. Pure.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/state/limits.hpp"

namespace controllers {

using Nodes = std::map<api::ObjectKey, NodePointer>;

bool is_ready(const api::Node& node);
// Since when the claim's Node has not been Ready; nullopt: it is. The time in the Node was written by the
// clock of a kubelet or a controller, so it counts at the earliest from when the claim's own status recorded
// it.
std::optional<api::Time> not_ready_since(const api::Node& node, const NodeSmithClaim& claim, api::Time now);
// The Node of the claim, as its status names it; null: none (yet, or any more).
const api::Node* node_of(const NodeSmithClaim& claim, const Nodes& nodes);

// A claim is exactly one of these.
enum class ClaimState { pending, ready, failed, deleting };
ClaimState state_of(const NodeSmithClaim& claim);
// Its last attempt failed, and its machine cannot be taken away: a lock, a mark that is not provably ours, a
// dead host, a task that does not end, budgets of pods on its Node, volumes on its disk, or no progress for
// minutes. No other attempt begins before it is gone.
bool removal_hangs(const NodeSmithClaim& claim);
// On its way to become a Node: not deleting, not Failed, not Registered, nor is its removal stuck.
bool is_coming(const NodeSmithClaim& claim);

struct PoolCounts {
    std::int64_t nodes = 0;          // that exist
    std::int64_t ready_nodes = 0;    // of these
    std::int64_t pending_nodes = 0;  // claims whose Node is still coming
    std::int64_t in_service = 0;     // Nodes that were Initialized and shall stay
    std::int64_t unready = 0;        // of these, not Ready now
    api::v1alpha1::PoolClaims claims;
    limits::Usage usage;  // against limits

    PoolCounts& operator+=(const PoolCounts& other);
    std::int64_t all_claims() const {
        return claims.pending + claims.ready + claims.failed + claims.deleting;
    }
    bool operator==(const PoolCounts&) const = default;
};

// `pool` gives the claims' sizes what their requirements leave open.
PoolCounts counts_of(const NodeSmithPool& pool, const ClaimPointers& claims, const Nodes& nodes);

}  // namespace controllers
