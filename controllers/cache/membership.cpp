#include "controllers/cache/membership.hpp"

#include <algorithm>
#include <tuple>

namespace controllers {

namespace {

bool names_pool(const NodeSmithControlPlane& control_plane, const std::string& pool) {
    const auto& listed = control_plane.spec.pools;
    return std::ranges::find(listed, pool) != listed.end();
}

// Ranks ControlPlanes: the one with the smallest rank manages the pool.
auto rank(const NodeSmithControlPlane& control_plane, const api::ObjectKey& pool) {
    return std::tuple(!names_pool(control_plane, pool.name), control_plane.metadata.creationTimestamp,
                      control_plane.metadata.name);
}

bool is_older(const NodeSmithPool& a, const NodeSmithPool& b) {
    return std::tie(a.metadata.creationTimestamp, a.metadata.namespace_) <
           std::tie(b.metadata.creationTimestamp, b.metadata.namespace_);
}

}  // namespace

bool lists_pool(const NodeSmithControlPlane& control_plane, const api::ObjectKey& pool) {
    if (control_plane.metadata.namespace_ != pool.namespace_) return false;
    return names_pool(control_plane, "*") || names_pool(control_plane, pool.name);
}

const NodeSmithControlPlane* manager_of(const api::ObjectKey& pool, const ControlPlanes& control_planes) {
    const NodeSmithControlPlane* best = nullptr;
    for (const auto& [key, candidate] : control_planes) {
        if (candidate->metadata.deletionTimestamp || !lists_pool(*candidate, pool)) continue;
        if (!best || rank(*candidate, pool) < rank(*best, pool)) best = candidate.get();
    }
    return best;
}

std::vector<const NodeSmithPool*> pools_of(const NodeSmithControlPlane& control_plane, const Pools& pools,
                                           const ControlPlanes& control_planes) {
    std::vector<const NodeSmithPool*> managed;
    for (const auto& [key, pool] : pools) {
        const auto* manager = manager_of(key, control_planes);
        if (manager && api::key_of(*manager) == api::key_of(control_plane)) managed.push_back(pool.get());
    }
    return managed;
}

const NodeSmithPool* label_conflict(const NodeSmithPool& pool, const Pools& pools) {
    for (const auto& [key, other] : pools) {
        const bool same_label =
            other->metadata.name == pool.metadata.name && other->spec.poolLabelKey == pool.spec.poolLabelKey;
        if (same_label && key.namespace_ != pool.metadata.namespace_ && is_older(*other, pool))
            return other.get();
    }
    return nullptr;
}

}  // namespace controllers
