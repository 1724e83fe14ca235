// What waiting pods are promised: the machines that were bought for them. A Node may offer less than was
// planned, as its kubelet keeps more or other pods came first: then not all of them have room on it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/watches.hpp"

namespace controllers::provisioning {

// UIDs of those of the waiting pods for which the Node has no room beside what is bound to it, each in its
// turn: priority, age, name. What the Node does not tell of yet keeps nobody away. Pure.
std::set<std::string> without_room(const api::Node& node, const PodPointers& bound, PodPointers waiting);

struct Promise {
    ClaimPointer claim;
    bool has_room = true;  // for the pod, on the claim's Node
};

// Looks at a Node once for all its pods, until it is told that something changed there.
class Promises {
public:
    // Before the informers run; they outlive it.
    explicit Promises(Informers& informers);
    std::vector<Promise> of(const api::Pod& pod);
    // Whom the claim was bought for, as far as they are unschedulable.
    PodPointers waiting_for(const NodeSmithClaim& claim) const;
    // Returns whom this concerns: those that were judged by what was known of the Node.
    kube::Keys forget(const std::string& node);
    // Of the Node that the pod is on, and of those that were bought for it.
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
