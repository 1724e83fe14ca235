// A snapshot of the cluster from the caches, shared by plan, explain, the status page, /debug/state and the
// gauges.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/disruption/facts/blocker.hpp"

namespace report {

template <class T>
using Pointers = std::vector<std::shared_ptr<const T>>;

// ClaimFacts is a claim with its pool and Node; each is null if it does not exist.
struct ClaimFacts {
    std::shared_ptr<const api::v1alpha1::NodeSmithClaim> claim;
    std::shared_ptr<const api::v1alpha1::NodeSmithPool> pool;
    std::shared_ptr<const api::Node> node;  // the Node in its status

    api::ObjectKey key() const { return api::key_of(*claim); }
    api::v1alpha1::ClaimPhase phase() const;
    bool has_ready_node() const;
};

// ClusterReport is a value: it stays the same while the caches change. All lists are ordered by key.
struct ClusterReport {
    api::Time time;
    bool leading = false;
    bool synced = false;
    controllers::ManagedNamespaces managed;  // namespaces in which our objects count
    std::size_t pods = 0;
    std::size_t nodes = 0;
    Pointers<api::Pod> unschedulable;
    Pointers<api::v1alpha1::NodeSmithControlPlane> control_planes;
    Pointers<api::v1alpha1::NodeSmithProvider> providers;
    Pointers<api::v1alpha1::NodeSmithPool> pools;
    Pointers<api::v1alpha1::NodeSmithHost> hosts;
    std::vector<ClaimFacts> claims;
    std::map<std::string, std::size_t> claims_by_node;  // indices; the first claim if a Node has several
    controllers::disruption::Stays stays;               // from the leader's last decision

    // Returns null if no claim has that Node.
    const ClaimFacts* claim_of_node(const std::string& name) const;
};

using LookAtCluster = std::function<ClusterReport()>;

ClusterReport report_of(const controllers::Informers& informers, const controllers::disruption::Stays& stays,
                        bool leading, api::Time now);

}  // namespace report
