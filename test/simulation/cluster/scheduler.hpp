// A small kube-scheduler: binds pods to Nodes, or says in their status that no Node fits. Honours resources,
// node selectors, required node affinity, taints, cordons and required anti-affinity; scores by free CPU.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/simulation/cluster/reactor.hpp"
#include "test/simulation/cluster/view.hpp"
#include "test/simulation/trace.hpp"

namespace simulation {

class Scheduler {
public:
    Scheduler(fake::ApiServer& server, ClusterView& view, Trace& trace);

private:
    struct Candidate {
        const api::Node* node;
        api::ResourceList free;
        std::vector<const api::Pod*> pods;
    };

    void schedule();
    std::vector<Candidate> candidates() const;
    Candidate* place(const api::Pod& pod, std::vector<Candidate>& candidates, std::string& why_not) const;
    void bind(const api::Pod& pod, const api::Node& node);
    void refuse(const api::Pod& pod, const std::string& message);

    fake::ApiServer& server_;
    ClusterView& view_;
    Trace& trace_;
    Reactor reactor_;
};

// nullopt: the pod may run there as far as the Node alone says (no resources, no other pods); else the reason
// in the scheduler's words.
std::optional<std::string> node_refuses(const api::Node& node, const api::Pod& pod);

}  // namespace simulation
