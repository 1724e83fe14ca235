// Describes what a pool's machines offer to pods, both before the launch and while they are being created.
// Their Nodes correct it (pool_status.cpp). A template's hash is that of the pool and its provider now, from
// claim::TemplateHashes. Computing one costs more than everything else here. Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/state/pool_status.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// Fills in sizes, taints and what a machine offers at each size. The pool comes from with_bootstrap() or
// as_its_nodes_show(); `provider` may be null.
void describe_machines(scheduling::Pool& entry, const NodeSmithPool& pool, const NodeSmithProvider* provider,
                       const std::string& template_hash);

// Marks shapes whose claims are refused, so that none of them is launched for now.
void leave_out(scheduling::Pool& entry, const std::vector<ClaimRefusal>& refusals);

// Returns the pool with its ControlPlane's bootstrap (null: none) if it has none itself.
NodeSmithPool with_bootstrap(NodeSmithPool pool, const NodeSmithControlPlane* manager);

// Does the same and adds what was learned about machines of its present template. The pool's own status
// reflects new Nodes a moment later. By then another machine would have been launched from the old data.
PoolPointer as_its_nodes_show(const PoolPointer& pool, const PoolObservation& facts,
                              const std::string& template_hash);

// Returns the expected allocatable of the claim's Node. The pool comes from
// as_its_nodes_show(); it and `provider` may be null.
api::ResourceList expected_allocatable(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                                       const NodeSmithProvider* provider);

}  // namespace controllers::provisioning
