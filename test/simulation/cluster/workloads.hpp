// The workloads of the modelled cluster and their controllers. Deployments keep their replicas, and
// DaemonSets have a pod on each Node that accepts it. Disruption budgets are counted, and expired bootstrap
// tokens are deleted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/simulation/cluster/reactor.hpp"
#include "test/simulation/cluster/view.hpp"
#include "test/simulation/trace.hpp"

namespace simulation {

// The namespace of all workloads.
inline constexpr const char* kNamespace = "default";

struct Deployment {
    std::string name;
    std::int64_t replicas = 0;
    std::int64_t most_replicas = 6;  // upper bound when it is scaled
    api::Pod pod;                    // the template: labels, annotations, spec
};

class Workloads {
public:
    Workloads(fake::ApiServer& server, ClusterSnapshot& view, Trace& trace);

    void apply(Deployment deployment);
    void scale(const std::string& name, std::int64_t replicas);
    const std::map<std::string, Deployment>& deployments() const { return deployments_; }

private:
    void reconcile();
    void reconcile(const Deployment& deployment);
    void reconcile_daemon_set(const api::DaemonSet& set);
    void create_pod(const std::string& prefix, api::Pod pod, api::OwnerReference owner);
    void count_budgets();
    void count(const api::PodDisruptionBudget& budget);
    void sweep_tokens();

    fake::ApiServer& server_;
    base::Clock& clock_;
    ClusterSnapshot& view_;
    Trace& trace_;
    std::map<std::string, Deployment> deployments_;
    std::uint64_t pods_made_ = 0;
    Reactor replicas_;
    Reactor budgets_;
    Reactor tokens_;
};

// Returns the DaemonSet's pod on that Node, as its controller and the API server complete it.
api::Pod daemon_pod(const api::DaemonSet& set, const std::string& node);

}  // namespace simulation
