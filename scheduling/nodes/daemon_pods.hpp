// Determines the real requests of DaemonSet pods. Webhooks, injected containers and the vertical pod
// autoscaler change pods at their creation. So the template alone does not predict the next pod.
#pragma once
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

class DaemonPods {
public:
    // Reads the pods on the pools' Nodes, including leaving ones, and those that wait for room on them.
    DaemonPods(const Snapshot& snapshot, Rows& rows, ResourceNames& names);

    // Returns by pool what the DaemonSet's newest pods there request. Pods of an older revision do not count.
    std::map<std::size_t, Amounts> asked_for(const api::DaemonSet& daemon_set) const;

private:
    struct Seen {
        const api::Pod* pod = nullptr;
        std::size_t pool = 0;
        Amounts requests;
    };
    std::unordered_map<std::string_view, std::vector<Seen>> seen_;  // by UID of the DaemonSet
};

}  // namespace scheduling
