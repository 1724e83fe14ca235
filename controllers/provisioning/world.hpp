// The cluster as the scheduling engine is told it: from the stores, with every live claim as the Node that it
// will be, and each pool with what it may still launch. Reads, never waits.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provisioning/gates.hpp"
#include "controllers/state/limits.hpp"
#include "controllers/state/template_hash.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// A pool, and what it may launch now.
struct PoolSupply {
    PoolPointer pool;
    kube::ObjectKey manager;  // empty name: not managed
    Gate gate;
    limits::LimitUse limit_use;          // of the pool
    limits::LimitUse manager_limit_use;  // of its ControlPlane
    // Claims that may be created within the hour for all pools of its ControlPlane; nullopt: as many as
    // wanted.
    std::optional<std::int64_t> manager_creations_left;
    std::vector<api::v1alpha1::UndeclaredTaint> undeclared_taints;  // that its new Nodes are expected to keep
    std::vector<ClaimRefusal> refusals;                             // of its claims, as sizes to leave out
    std::optional<api::Time> refused_until;                         // when the first size is asked for again
};

// Whose limit a budget of the snapshot is.
struct BudgetOwner {
    kube::ObjectKey pool;  // or, if its name is empty,
    kube::ObjectKey control_plane;
};

struct World {
    scheduling::Snapshot snapshot;
    std::vector<PoolSupply> pools;           // as in snapshot.pools
    std::vector<BudgetOwner> budget_owners;  // as in snapshot.budgets
    // The taints that keep pods away from a young Node for a while, for people; by name of the Node.
    std::map<std::string, std::string> notes_on_nodes;
    std::set<std::string>
        exhausted;  // UIDs of pods for which so much was launched that nothing is for a while
};

// `supplies` in the order of their keys; `pods` are those to be placed; claims that are `under_way` to the
// API server count as if they were there.
World build_world(const Informers& informers, claim::TemplateHashes& template_hashes,
                  std::vector<PoolSupply> supplies, PodPointers pods, const ClaimPointers& under_way,
                  api::Time now);

// The Node without what it offers beyond its machine, which is its kubelet's word only: other nodes would be
// emptied for it. `pool` may be null.
NodePointer within_its_machine(NodePointer node, const NodeSmithClaim& claim, const NodeSmithPool* pool);

// The Node that the claim will become: as it is, if it is there already, with what it will still get.
// `pool`, `provider` and `host` (of bare metal) may be null. Its name is the claim's, unless it has another
// one already.
api::Node expected_node(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                        const NodeSmithProvider* provider, const api::Node* node,
                        const api::v1alpha1::HostSpec* host = nullptr);

// A claim that will surely be refused or cannot be carried out now is no Node to wait for.
bool can_be_waited_for(const NodeSmithClaim& claim, const NodeSmithProvider* provider, api::Time now);
// When machines that the provider has yet to make are ordered elsewhere; nullopt: the provider is Ready.
std::optional<api::Time> end_of_patience(const NodeSmithProvider& provider);
// Its machine finds no room at the provider, the limits were lowered below it, or the machine of its last
// attempt cannot be removed.
bool is_held_up(const NodeSmithClaim& claim);

}  // namespace controllers::provisioning
