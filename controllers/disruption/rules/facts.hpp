// Holds the facts about a node with which its removal is judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers::disruption {

struct NodeFacts {
    const NodeSmithPool& pool;
    const NodeSmithClaim& claim;
    const api::Node& node;
    std::int64_t evictable_pods = 0;  // on the node, ending ones included
    double utilization_percent = 0;
    double price_percent = 0;  // price of what its pods request, as a percentage of the node's price
    std::optional<api::Time> empty_since;
    std::optional<api::Time> unneeded_since;  // start of its low utilization
    std::optional<api::Time> spare_since;     // since then the pool's pods need fewer nodes
    std::string evacuated;                    // why its host is being evacuated; empty: it is not
    std::string drift;             // how it differs from what would be made now; empty: it does not
    std::string drift_cause;       // template or settings from which it would be made now
    std::string template_hash;     // hash of what the pool makes now; empty: unknown
    bool machine_stopped = false;  // according to its provider
    std::string held_volumes;      // description of the volumes that hold the node; empty: none
    std::string unreadable_pod;    // namespace/name of a pod on it that cannot be decoded; empty: none
    bool awaits_taint = false;     // it has a taint that counts as temporary: its pods cannot be there yet
};

// PoolFacts holds the facts that all nodes of a pool share.
struct PoolFacts {
    const NodeSmithPool& pool;
    const NodeSmithControlPlane* manager = nullptr;  // null: not managed
    PoolCounts manager_counts;                       // totals over all pools of the manager
    std::int64_t in_service = 0;          // nodes of the pool that were in service, leaving ones included
    std::int64_t staying = 0;             // nodes in service that are Ready and not leaving
    std::int64_t leaving = 0;             // being removed, for whatever reason
    std::int64_t stuck = 0;               // nodes whose removal cannot proceed
    std::int64_t repairs = 0;             // leaving nodes that were broken
    std::int64_t kept = 0;                // drained and kept for the volumes on their disks
    std::int64_t not_ready = 0;           // among the nodes that are kept
    std::int64_t removals_last_hour = 0;  // by the manager, including running ones
    // Time when a removal in this pool was last given up because no replacement was created.
    std::optional<api::Time> last_failure;
    const NodeSmithProvider* provider = nullptr;  // null: none
    std::string stale_kinds;                      // see Informers::stale_kinds()
};

}  // namespace controllers::disruption
