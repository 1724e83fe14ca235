// Finds the ControlPlane that a pool belongs to. It decides whether machines are
// launched and removed there. Pure.
#pragma once

#include <map>
#include <vector>

#include "controllers/cache/kinds.hpp"

namespace controllers {

using ControlPlanes = std::map<api::ObjectKey, ControlPlanePointer>;
using Pools = std::map<api::ObjectKey, PoolPointer>;

// Reports whether the ControlPlane lists the pool by name or by "*", meaning every pool of its namespace.
bool lists_pool(const NodeSmithControlPlane& control_plane, const api::ObjectKey& pool);

// Returns null if no ControlPlane lists the pool, so that it is not managed. If several do, one that names it
// comes before one that says "*". Then the older one comes first, then the first by name. A ControlPlane that
// is being deleted manages nothing.
const NodeSmithControlPlane* manager_of(const api::ObjectKey& pool, const ControlPlanes& control_planes);

// Returns the existing pools that this ControlPlane manages, sorted by name.
std::vector<const NodeSmithPool*> pools_of(const NodeSmithControlPlane& control_plane, const Pools& pools,
                                           const ControlPlanes& control_planes);

// Returns an older pool with the same poolLabelKey and name, because the
// Nodes of both look alike; null: none.
const NodeSmithPool* label_conflict(const NodeSmithPool& pool, const Pools& pools);

}  // namespace controllers
