// Counts the claims and Nodes of one or more pools, for statuses, limits and health. Pure.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/limits/limits.hpp"

namespace controllers {

using Nodes = std::map<api::ObjectKey, NodePointer>;

bool is_ready(const api::Node& node);
// Returns since when the claim's Node has not been Ready; nullopt: it is Ready. The time does not count
// before the claim recorded the Node, because a kubelet's or controller's clock wrote it.
std::optional<api::Time> not_ready_since(const api::Node& node, const NodeSmithClaim& claim, api::Time now);
// Returns the Node that the claim's status names; null: none yet, or no longer.
const api::Node* node_of(const NodeSmithClaim& claim, const Nodes& nodes);

// A claim is in exactly one of these states.
enum class ClaimState { pending, ready, failed, deleting };
ClaimState state_of(const NodeSmithClaim& claim);
// Reports whether the last attempt failed and its machine cannot be removed. The cause may be a lock, a mark
// that is not provably ours, a dead host or an endless task. It may also be budgets of pods on its Node,
// volumes on its disk, or no progress for minutes. The next attempt starts only when the machine is gone.
bool removal_hangs(const NodeSmithClaim& claim);
// Reports whether the claim will become a Node. It is not deleting, Failed or Registered, its removal is not
// stuck, and no person has to find its machine. The data of that machine's host deducts it already.
bool is_coming(const NodeSmithClaim& claim);

struct PoolCounts {
    std::int64_t nodes = 0;          // existing ones
    std::int64_t ready_nodes = 0;    // Ready ones among them
    std::int64_t pending_nodes = 0;  // claims whose Node does not exist yet
    std::int64_t in_service = 0;     // Nodes that were Initialized and should be kept
    std::int64_t unready = 0;        // not Ready ones among them
    api::v1alpha1::PoolClaims claims;
    limits::Usage usage;  // counts against limits

    PoolCounts& operator+=(const PoolCounts& other);
    std::int64_t all_claims() const {
        return claims.pending + claims.ready + claims.failed + claims.deleting;
    }
    bool operator==(const PoolCounts&) const = default;
};

// Returns the counts. `pool` completes the sizes that claims' requirements leave open.
PoolCounts counts_of(const NodeSmithPool& pool, const ClaimPointers& claims, const Nodes& nodes);

}  // namespace controllers
