// Whether an empty node may leave: what stands against it, if anything. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/node.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"
#include "controllers/fleet.hpp"

namespace controllers {

// Why a node stays.
struct Blocker {
    std::string reason;              // CamelCase
    std::string message;             // for people; no figure in it that changes with time
    std::optional<api::Time> until;  // if it ends by time alone

    bool operator==(const Blocker&) const = default;
};

// What holds for all nodes of a pool.
struct PoolRemovalFacts {
    const api::v1alpha1::NodeSmithPool& pool;
    const api::v1alpha1::NodeSmithControlPlane* manager = nullptr;  // null: not managed
    Fleet manager_fleet;                                            // of all pools of the manager
    std::int64_t leaving = 0;             // nodes of the pool that are being removed
    std::int64_t removals_last_hour = 0;  // of the manager
    std::optional<api::Time> last_abort;  // when a removal in this pool was last given up for failure
};
// What forbids removals in the pool whether or not one is under way: wishes and health.
std::optional<Blocker> standing_blocker(const PoolRemovalFacts& facts);
// What forbids to begin one now: the above, windows, delays, concurrency and rate.
std::optional<Blocker> pool_blocker(const PoolRemovalFacts& facts, api::Time now);

// What holds for one node.
struct NodeRemovalFacts {
    const api::v1alpha1::NodeSmithPool& pool;
    const api::v1alpha1::NodeSmithClaim& claim;
    const api::Node& node;
    std::int64_t evictable_pods = 0;          // on it, ending ones included
    std::vector<std::string> needed_because;  // pending pods, minNodes or headroom, by a simulation
    std::int64_t staying = 0;                 // nodes of the pool in service that stay, with this one
};
std::optional<Blocker> node_blocker(const NodeRemovalFacts& facts, api::Time now);

// status.emptySince as it should be: since when the node in service has had no evictable pod.
std::optional<api::Time> empty_since(const api::v1alpha1::NodeSmithClaim& claim, const api::Node* node,
                                     std::int64_t evictable_pods, api::Time now);

// A removal was decided (condition Disrupted, reason Empty) and not given up.
bool is_being_removed(const api::v1alpha1::NodeSmithClaim& claim);
// The node comes or is in service, and nothing was decided against it.
bool is_staying(const api::v1alpha1::NodeSmithClaim& claim);

// The node without our taint and what goes with it.
api::Node back_in_service(const api::Node& node);
bool has_leaving_taint(const api::Node& node);

}  // namespace controllers
