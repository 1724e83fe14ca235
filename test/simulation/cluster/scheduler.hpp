// A small kube-scheduler: binds pods to Nodes, or says in their status that no Node fits. Honours resources,
// node selectors, required node affinity, taints, cordons, and what pods ask of each other (constraints.hpp).
// Scores by what stays free, and before that by what the pod would like. Tries first the Node that a pod is
// nominated for, and keeps its room there from pods of no higher priority.
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
    // It binds one pod at a time, and so long after the last, as it does when a thousand wait.
    void slow_down(base::Duration pause) { pause_ = pause; }

private:
    void schedule();
    Candidate* place(const api::Pod& pod, std::vector<Candidate>& candidates, std::string& why_not) const;
    // Why the pod cannot run there; nullopt: it can.
    std::optional<std::string> refuses(const Candidate& candidate, const std::vector<Candidate>& all,
                                       const api::Pod& pod) const;
    // A pending pod is no longer nominated for a Node that it could use. The kube-scheduler, too, takes that
    // for a pod that is gone from there and tries others again.
    bool gives_room(const api::Pod& before, const api::Pod& after) const;
    // What pending pods hold that are nominated for the Node, as far as they go before this one.
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

// All Nodes, with what their pods leave free.
std::vector<Candidate> candidates(const ClusterSnapshot& view);
// What `wanted` lacks in `free`, in the scheduler's words; nullopt: nothing.
std::optional<std::string> lacks(const api::ResourceList& free, const api::ResourceList& wanted);
// nullopt: the pod may run there as far as the Node alone says (no resources, no other pods); else the reason
// in the scheduler's words.
std::optional<std::string> node_refuses(const api::Node& node, const api::Pod& pod);
// The same of the pod's volumes.
std::optional<std::string> volumes_refuse(const ClusterSnapshot& view, const api::Node& node,
                                          const api::Pod& pod);
// It has volumes, which may be usable on one Node only.
bool uses_volumes(const api::Pod& pod);

}  // namespace simulation
