// Describes the cluster for the scheduling engine, from the stores. Every live claim is the Node that it will
// become, and each pool has what it may still launch. It reads and never waits.
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

// PoolSupply is a pool and what it may launch now.
struct PoolSupply {
    PoolPointer pool;
    kube::ObjectKey manager;  // empty name: not managed
    Gate gate;
    limits::LimitUse limit_use;          // limits of the pool
    limits::LimitUse manager_limit_use;  // limits of its ControlPlane
    // Claims that may be created within the hour for all pools of its ControlPlane; nullopt: no limit.
    std::optional<std::int64_t> manager_creations_left;
    std::vector<api::v1alpha1::UndeclaredTaint> undeclared_taints;  // taints that its new Nodes will keep
    std::vector<ClaimRefusal> refusals;                             // refused claims, as sizes to leave out
    std::optional<api::Time> refused_until;                         // when the first size is tried again
};

// BudgetOwner names the owner of a limit that is a budget of the snapshot.
struct BudgetOwner {
    kube::ObjectKey pool;  // if its name is empty, the next member applies
    kube::ObjectKey control_plane;
};

struct World {
    scheduling::Snapshot snapshot;
    std::vector<PoolSupply> pools;           // same indices as snapshot.pools
    std::vector<BudgetOwner> budget_owners;  // same indices as snapshot.budgets
    // Describes the taints that keep pods away from a young Node for a while; by name of the Node.
    std::map<std::string, std::string> notes_on_nodes;
    std::set<std::string> exhausted;  // UIDs of pods with so many launches that no more are made for a while
};

// Builds the world. `supplies` are sorted by key and `pods` are those to be placed. Claims that are
// `under_way` to the API server count as existing.
World build_world(const Informers& informers, claim::TemplateHashes& template_hashes,
                  std::vector<PoolSupply> supplies, PodPointers pods, const ClaimPointers& under_way,
                  api::Time now);

// Returns the Node without what it offers beyond its machine. Its kubelet alone claims that amount, and other
// nodes would be emptied because of it. `pool` may be null.
NodePointer within_its_machine(NodePointer node, const NodeSmithClaim& claim, const NodeSmithPool* pool);

// Returns the Node that the claim will become. An existing Node is kept and gets what it still
// lacks. `pool`, `provider` and `host` (of bare metal) may be null. Its name is the claim's,
// unless it has another one already.
api::Node expected_node(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                        const NodeSmithProvider* provider, const api::Node* node,
                        const api::v1alpha1::HostSpec* host = nullptr);

// Reports whether to wait for the claim's Node. A claim that will certainly be refused or
// cannot be launched now does not count.
bool can_be_waited_for(const NodeSmithClaim& claim, const NodeSmithProvider* provider, api::Time now);
// Returns when machines that the provider has not created yet are launched
// elsewhere; nullopt: the provider is Ready.
std::optional<api::Time> end_of_patience(const NodeSmithProvider& provider);
// Reports whether the claim is held up. Its machine finds no room, the limits were lowered below it, its last
// machine cannot be removed, or a person must find its machine.
bool is_held_up(const NodeSmithClaim& claim);

}  // namespace controllers::provisioning
