// Manages the Node of a claim: registers it, keeps it recognizable, takes it out of service and deletes it.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/act/deletion_hints.hpp"
#include "controllers/claim/act/patch_pauses.hpp"
#include "kube/controller.hpp"

namespace controllers::claim {

class NodeKeeper : Actor {
public:
    explicit NodeKeeper(const Means& means)
        : Actor(means), hints_(means.context), pauses_(means.context.clock) {}
    // Must be called before the informers run.
    void subscribe() { hints_.subscribe(); }

    // Writes labels, annotations, taints and the providerID; then sets Registered. A Node that its
    // kubelet recreated gets them again.
    asio::awaitable<kube::Result> register_node(Observation observation);
    // Restores the labels and taints that are due, and records how often, so that pauses grow.
    asio::awaitable<kube::Result> put_back(Observation observation);
    // Deletes the token and removes the boot image, so that no one can join with them again.
    asio::awaitable<kube::Result> discard_boot_data(Observation observation);
    // Reads the Node that the cache has lost from the API server. If it is gone, a machine that is being
    // removed needs no drain. A machine in service must be replaced.
    asio::awaitable<kube::Result> confirm_gone(Observation observation);
    // Reads the Nodes live before the machine is removed, if it is not known to have joined. If it has no
    // Node, the removal of the machine is recorded as begun.
    asio::awaitable<kube::Result> look(Observation observation);
    // Reports whether the API server has a Node of the claim's machine. The cache has it afterwards too.
    asio::awaitable<bool> has_joined(ClaimPointer claim);
    asio::awaitable<kube::Result> taint(Observation observation);
    // Removes what taint() added, so that the Node accepts pods again.
    asio::awaitable<kube::Result> untaint(Observation observation);
    // Puts our labels on the Node of an adopted machine. From then on they identify it as the claim's.
    asio::awaitable<void> label(Observation observation, NodePointer node);
    // Removes our label and taint from a Node that its user keeps.
    asio::awaitable<kube::Result> release(Observation observation);
    // Deletes the Node. Only a Node with the claim's label is deleted; one that is ours by
    // its identity gets the label first.
    asio::awaitable<kube::Result> remove(Observation observation);

private:
    // Reports whether the Node in the claim's status exists and is the claim's.
    asio::awaitable<bool> has_live_node(ClaimPointer claim);
    asio::awaitable<void> patch(NodePointer before, api::Node after);
    // Patches with growing pauses, because another program may undo the change each time. `change` names it.
    asio::awaitable<kube::Result> patch_with_pauses(Observation observation, api::Node after,
                                                    std::string change);
    // Returns the field managers that wrote the due deviations, in the same order.
    asio::awaitable<std::vector<std::string>> writers_of(Observation observation, std::vector<Deviation> due);

    DeletionHints hints_;
    PatchPauses pauses_;
};

}  // namespace controllers::claim
