// What is known of a node, and of its pool, when it is judged whether it may leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/state/pool_counts.hpp"

namespace controllers::disruption {

struct NodeFacts {
    const NodeSmithPool& pool;
    const NodeSmithClaim& claim;
    const api::Node& node;
    std::int64_t evictable_pods = 0;  // on it, ending ones included
    double utilization_percent = 0;
    double price_percent = 0;  // of what the node costs, what its pods request would cost
    std::optional<api::Time> empty_since;
    std::optional<api::Time> unneeded_since;  // since when too little of it is in use
    std::optional<api::Time> spare_since;     // since when the pool's pods need fewer nodes
    std::string evacuated;                    // why its host is being evacuated; empty: it is not
    std::string drift;             // how it differs from what would be made now; empty: it does not
    std::string drift_cause;       // what it would be made from instead
    std::string template_hash;     // of what the pool makes now; empty: not known
    bool machine_stopped = false;  // by its provider
    std::string held_volumes;      // that hold the node, in words; empty: none does
    std::string unreadable_pod;  // one on it that cannot be decoded, as namespace/name; empty: there is none
    bool awaits_taint = false;   // it has a taint that counts as temporary: its pods cannot be there yet
};

// What holds for all nodes of a pool.
struct PoolFacts {
    const NodeSmithPool& pool;
    const NodeSmithControlPlane* manager = nullptr;  // null: not managed
    PoolCounts manager_counts;                       // of all pools of the manager
    std::int64_t in_service = 0;          // nodes of the pool that were in service, leaving ones included
    std::int64_t staying = 0;             // of these, Ready and not leaving
    std::int64_t leaving = 0;             // being removed, for whatever reason
    std::int64_t stuck = 0;               // of these, those whose removal cannot go on
    std::int64_t repairs = 0;             // of those that leave, those that were broken
    std::int64_t kept = 0;                // drained and kept, for the volumes on their disks
    std::int64_t not_ready = 0;           // of the nodes that stay
    std::int64_t removals_last_hour = 0;  // of the manager, with those that are under way
    // When a removal in this pool was last given up because no replacement came.
    std::optional<api::Time> last_failure;
    const NodeSmithProvider* provider = nullptr;  // null: there is none
    std::string stale_kinds;                      // see Informers::stale_kinds()
};

}  // namespace controllers::disruption
