// Tracks which machine each waiting pod was launched for. A Node may offer less than planned, because its
// kubelet reserves more or other pods came first. Then not all of them have room on it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/watches.hpp"

namespace controllers::provisioning {

// Returns the UIDs of the waiting pods that have no room on the Node in addition to its bound
// pods. They are tried in the order of priority, age and name. Resources that the Node does
// not report yet exclude no pod. Pure.
std::set<std::string> without_room(const api::Node& node, const PodPointers& bound, PodPointers waiting);

struct Promise {
    ClaimPointer claim;
    bool has_room = true;  // for the pod, on the claim's Node
};

// Promises examines a Node once for all its pods, until a change there is reported.
class Promises {
public:
    // Must be created before the informers run, and must not outlive them.
    explicit Promises(Informers& informers);
    std::vector<Promise> of(const api::Pod& pod);
    // Returns the unschedulable pods that the claim was launched for.
    PodPointers waiting_for(const NodeSmithClaim& claim) const;
    // Forgets the Node's data. Returns the pods that were judged by it.
    kube::Keys forget(const std::string& node);
    // Forgets the Node that the pod is on, and the Nodes launched for it.
    kube::Keys forget_nodes_of(const api::Pod& pod);

private:
    struct Room {
        kube::Keys waiting;
        std::set<std::string> without;  // UIDs
    };
    const Room& room_on(const api::Node& node);

    Informers& informers_;
    std::map<std::string, Room> rooms_;  // by name of the Node
};

}  // namespace controllers::provisioning
