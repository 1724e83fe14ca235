// Computes the status of a NodeSmithPool from its claims and their Nodes. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers {

// NewestNode is one of a pool's youngest Nodes.
struct NewestNode {
    std::string template_hash;                // of its claim
    PodPointers daemon_pods;                  // of DaemonSets, including those that wait for room on it
    std::shared_ptr<const api::CSINode> csi;  // null: not known
};

struct PoolObservation {
    const NodeSmithPool& object;
    ClaimPointers claims;
    const Nodes& nodes;
    const NodeSmithControlPlane* manager = nullptr;  // null: not managed
    const NodeSmithProvider* provider = nullptr;     // null: it does not exist
    const NodeSmithPool* label_conflict = nullptr;   // the older pool with the same label
    std::vector<HostPointer> bare_metal;             // hosts of its provider
    std::vector<NewestNode> newest_nodes;            // see add_newest_nodes(), like the next two
    std::vector<std::shared_ptr<const api::DaemonSet>> daemon_sets;
    std::vector<std::shared_ptr<const api::CSIDriver>> csi_drivers;
    std::string claims_refused;            // why the API server refuses its claims; empty: it does not
    std::string address_conflicts;         // see conflicts_text()
    std::string deletion_refused;          // why a claim of the deleted pool stays; empty: none is refused
    std::string no_address;                // why no further machine can get a static address; empty: one can
    std::int64_t creations_last_hour = 0;  // of all pools of the manager, if it limits them
    std::vector<api::Time> others_joined;  // see joined_of_others()
};

// Reports whether the bare-metal host has no claim and can get one.
bool is_free(const NodeSmithHost& host);
// Returns why the pool may not have the host even if it is free, such as "has another architecture"; empty:
// it may. `provider` is of bare-metal hosts.
std::string why_unsuitable(const NodeSmithHost& host, const NodeSmithPool& pool,
                           const NodeSmithProvider& provider);

// Returns the end of scaleUp.stabilizationWindow after the last growth; nullopt: nothing is delayed.
std::optional<api::Time> scale_up_opens(const NodeSmithPool& pool, const api::v1alpha1::PoolStatus& status);

// Computes the next status. Pure.
api::v1alpha1::PoolStatus next_status(const PoolObservation& facts, api::Time now);

// Reports in the condition ConfigurationValid whether machines of this pool have a way to join. The condition
// exists only while they have none.
void judge_boot(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now);

}  // namespace controllers
