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
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/provisioning/gates.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// PoolSupply is a pool and what it may launch now.
struct PoolSupply {
    PoolPointer pool;
    kube::ObjectKey manager;  // empty name: not managed
    LaunchGate gate;
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

}  // namespace controllers::provisioning
