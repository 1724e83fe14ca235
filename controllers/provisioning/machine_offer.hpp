// What machines of a pool offer to pods: one picture for what they are launched for and for what is expected
// of them while they come. Their Nodes correct it (pool_status.cpp). A template's hash is that of the pool
// and its provider as they are now, by claim::TemplateHashes: to compute one costs more than all else here.
// Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/state/pool_status.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// Fills in sizes, taints and what a machine offers at each size. The pool is with_bootstrap() or
// as_its_nodes_show(); `provider` may be null.
void describe_machines(scheduling::Pool& entry, const NodeSmithPool& pool, const NodeSmithProvider* provider,
                       const std::string& template_hash);

// Marks the shapes of which claims are refused, so that none is launched for now.
void leave_out(scheduling::Pool& entry, const std::vector<ClaimRefusal>& refusals);

// The pool with the bootstrap that is its ControlPlane's (null: none) where it has none of its own.
NodeSmithPool with_bootstrap(NodeSmithPool pool, const NodeSmithControlPlane* manager);

// The same with what was learned of machines of its present template up to now. Its own status tells of Nodes
// that have just joined a moment later, when another machine would have been launched by the old picture.
PoolPointer as_its_nodes_show(const PoolPointer& pool, const PoolObservation& facts,
                              const std::string& template_hash);

// Of the claim's Node. The pool is as_its_nodes_show(); it and `provider` may be null.
api::ResourceList expected_allocatable(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                                       const NodeSmithProvider* provider);

}  // namespace controllers::provisioning
