// Determines the real requests of DaemonSet pods. Webhooks, injected containers and the vertical pod
// autoscaler change pods at their creation. So the template alone does not predict the next pod.
#pragma once
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

// Reports whether the pod's controller is a DaemonSet.
bool is_of_daemon_set(const api::Pod& pod);
// Returns the number of the DaemonSet's pod template; empty: unknown.
std::string_view template_generation(const api::DaemonSet& daemon_set);
// Reports whether the DaemonSet controls the pod and its present template made it. If one of them does not
// state the number of the template, the pod may be of an older one.
bool is_of_present_template(const api::DaemonSet& daemon_set, const api::Pod& pod);
// Returns the revision of its DaemonSet that the pod was made for; empty: not stated.
std::string_view revision_of(const api::Pod& pod);
bool is_younger(const api::Pod& pod, const api::Pod& other);
// Returns the node that the DaemonSet controller made the pod for; empty: not stated.
std::string_view node_aimed_at(const api::Pod& pod);

class DaemonPods {
public:
    // Reads the pods on the pools' Nodes, including leaving ones, and those that wait for room on them.
    DaemonPods(const Snapshot& snapshot, Rows& rows, ResourceNames& names);

    // Returns by pool what the DaemonSet's newest pods there request, or requested on the pool's former
    // Nodes. Pods of an older revision do not count.
    std::map<std::size_t, Amounts> asked_for(const api::DaemonSet& daemon_set) const;

private:
    struct Seen {
        const api::Pod* pod = nullptr;
        std::size_t pool = 0;
        Amounts requests;
    };
    std::map<std::size_t, Amounts> seen_of(const api::DaemonSet& daemon_set) const;

    // By UID of the DaemonSet.
    std::unordered_map<std::string_view, std::vector<Seen>> seen_;
    std::unordered_map<std::string_view, std::vector<std::pair<std::size_t, const LearnedDaemon*>>> learned_;
};

}  // namespace scheduling
