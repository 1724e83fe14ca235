// What machines of a pool offer to pods: one picture for what they are launched for and for what is expected
// of them while they come. Their Nodes correct it (pool_status.cpp). A template's hash is that of the pool
// and its provider as they are now, by claim::TemplateHashes: to compute one costs more than all else here.
// Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/state/pool_counts.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// Fills in sizes, taints and what a machine offers at each size. `provider` may be null.
void describe_machines(scheduling::Pool& entry, const NodeSmithPool& pool, const NodeSmithProvider* provider,
                       const std::string& template_hash);

// The pool with what was learned of machines of its present template up to now. Its own status tells of Nodes
// that have just joined a moment later, when another machine would have been launched by the old picture.
// `provider` may be null.
PoolPointer as_its_nodes_show(const PoolPointer& pool, const ClaimPointers& claims, const Nodes& nodes,
                              const NodeSmithProvider* provider, const std::string& template_hash);

// Of the claim's Node. The pool is as_its_nodes_show(); it and `provider` may be null.
api::ResourceList expected_allocatable(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                                       const NodeSmithProvider* provider);

}  // namespace controllers::provisioning
