// Which ControlPlane a pool belongs to: the one that decides whether machines are launched and removed there.
// Pure.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"

namespace controllers {

using ControlPlanes = std::map<api::ObjectKey, std::shared_ptr<const api::v1alpha1::NodeSmithControlPlane>>;
using Pools = std::map<api::ObjectKey, std::shared_ptr<const api::v1alpha1::NodeSmithPool>>;

// By name, or by "*", which stands for every pool of the ControlPlane's namespace.
bool lists_pool(const api::v1alpha1::NodeSmithControlPlane& control_plane, const api::ObjectKey& pool);

// Null: no ControlPlane lists the pool, so it is not managed. If several do, one that names it goes before
// one that says "*", then the older, then the first by name. A ControlPlane being deleted manages nothing.
const api::v1alpha1::NodeSmithControlPlane* manager_of(const api::ObjectKey& pool,
                                                       const ControlPlanes& control_planes);

// The pools that exist and that this ControlPlane manages, in name order.
std::vector<const api::v1alpha1::NodeSmithPool*> pools_of(
    const api::v1alpha1::NodeSmithControlPlane& control_plane, const Pools& pools,
    const ControlPlanes& control_planes);

// An older pool with the same poolLabelKey and name, whose Nodes could not be told from this one's; null:
// none.
const api::v1alpha1::NodeSmithPool* label_conflict(const api::v1alpha1::NodeSmithPool& pool,
                                                   const Pools& pools);

}  // namespace controllers
