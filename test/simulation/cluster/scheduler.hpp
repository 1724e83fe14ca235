// A small kube-scheduler. It binds pods to Nodes, or writes in their status that no Node fits. It honours
// resources, node selectors, required node affinity, taints, cordons, and constraints between pods
// (constraints.hpp). It prefers Nodes that satisfy the pod's preferences, then those with most free
// resources. It first tries the Node for which a pod is nominated. Pods of no higher priority cannot take
// that room.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/simulation/cluster/constraints.hpp"
#include "test/simulation/cluster/reactor.hpp"
#include "test/simulation/cluster/view.hpp"
#include "test/simulation/trace.hpp"

namespace simulation {

class Scheduler {
public:
    Scheduler(fake::ApiServer& server, ClusterSnapshot& view, Trace& trace);
    // Makes the scheduler bind one pod at a time with a pause after each, as the real one does when a
    // thousand pods wait.
    void slow_down(base::Duration pause) { pause_ = pause; }

private:
    void schedule();
    Candidate* place(const api::Pod& pod, std::vector<Candidate>& candidates, std::string& why_not) const;
    // Returns why the pod cannot run there; nullopt if it can.
    std::optional<std::string> refuses(const Candidate& candidate, const std::vector<Candidate>& all,
                                       const api::Pod& pod) const;
    // Reports whether a pending pod lost its nomination for a Node that it could use. The real kube-scheduler
    // also treats that as a pod that left the Node, and tries other pods again.
    bool gives_room(const api::Pod& before, const api::Pod& after) const;
    // Returns the resources that the Node reserves for nominated pending pods, as far as these have priority
    // over this one.
    api::ResourceList held_there(const std::string& node, const api::Pod& pod) const;
    void bind(const api::Pod& pod, const api::Node& node);
    void refuse(const api::Pod& pod, const std::string& message);

    fake::ApiServer& server_;
    ClusterSnapshot& view_;
    Trace& trace_;
    Reactor reactor_;
    base::Duration pause_{};
    base::TimePoint not_before_{};
};

// Returns all Nodes with the resources that their pods leave free.
std::vector<Candidate> candidates(const ClusterSnapshot& view);
// Returns which part of `wanted` does not fit into `free`, in the scheduler's words; nullopt if all of it
// fits.
std::optional<std::string> lacks(const api::ResourceList& free, const api::ResourceList& wanted);
// Returns why the Node alone refuses the pod, in the scheduler's words; nullopt if it does not. Resources and
// other pods are left out.
std::optional<std::string> node_refuses(const api::Node& node, const api::Pod& pod);
// Returns why the pod's volumes forbid the Node; nullopt if they allow it.
std::optional<std::string> volumes_refuse(const ClusterSnapshot& view, const api::Node& node,
                                          const api::Pod& pod);
// Reports whether the pod has volumes, which may be usable on one Node only.
bool uses_volumes(const api::Pod& pod);

}  // namespace simulation
