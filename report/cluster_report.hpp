// What the caches hold of the cluster, put together once for all who tell of it: plan, explain, the status
// page, /debug/state and the gauges.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/state/blocker.hpp"

namespace report {

template <class T>
using Pointers = std::vector<std::shared_ptr<const T>>;

// A claim with what belongs to it, which is null where it is not there.
struct ClaimFacts {
    std::shared_ptr<const api::v1alpha1::NodeSmithClaim> claim;
    std::shared_ptr<const api::v1alpha1::NodeSmithPool> pool;
    std::shared_ptr<const api::Node> node;  // as the status names it

    api::ObjectKey key() const { return api::key_of(*claim); }
    api::v1alpha1::ClaimPhase phase() const;
    bool has_ready_node() const;
};

// A value: it stays as it is while the caches move on. All lists are in key order.
struct ClusterReport {
    api::Time time;
    bool leading = false;
    bool synced = false;
    controllers::ManagedNamespaces managed;  // in which objects of our kinds count
    std::size_t pods = 0;
    std::size_t nodes = 0;
    Pointers<api::Pod> unschedulable;
    Pointers<api::v1alpha1::NodeSmithControlPlane> control_planes;
    Pointers<api::v1alpha1::NodeSmithProvider> providers;
    Pointers<api::v1alpha1::NodeSmithPool> pools;
    Pointers<api::v1alpha1::NodeSmithHost> hosts;
    std::vector<ClaimFacts> claims;
    std::map<std::string, std::size_t> claims_by_node;  // indices; of several claims of a Node the first
    controllers::disruption::Stays stays;               // as the leader judged last

    // Null: no claim has that Node.
    const ClaimFacts* claim_of_node(const std::string& name) const;
};

using LookAtCluster = std::function<ClusterReport()>;

ClusterReport report_of(const controllers::Informers& informers, const controllers::disruption::Stays& stays,
                        bool leading, api::Time now);

}  // namespace report
