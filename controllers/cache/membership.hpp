// Which ControlPlane a pool belongs to: the one that decides whether machines are launched and removed there.
// Pure.
#pragma once

#include <map>
#include <vector>

#include "controllers/cache/kinds.hpp"

namespace controllers {

using ControlPlanes = std::map<api::ObjectKey, ControlPlanePointer>;
using Pools = std::map<api::ObjectKey, PoolPointer>;

// By name, or by "*", which stands for every pool of the ControlPlane's namespace.
bool lists_pool(const NodeSmithControlPlane& control_plane, const api::ObjectKey& pool);

// Null: no ControlPlane lists the pool, so it is not managed. If several do, one that names it goes before
// one that says "*", then the older, then the first by name. A ControlPlane being deleted manages nothing.
const NodeSmithControlPlane* manager_of(const api::ObjectKey& pool, const ControlPlanes& control_planes);

// The pools that exist and that this ControlPlane manages, in name order.
std::vector<const NodeSmithPool*> pools_of(const NodeSmithControlPlane& control_plane, const Pools& pools,
                                           const ControlPlanes& control_planes);

// An older pool with the same poolLabelKey and name, whose Nodes could not be told from this one's; null:
// none.
const NodeSmithPool* label_conflict(const NodeSmithPool& pool, const Pools& pools);

}  // namespace controllers
