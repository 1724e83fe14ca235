// The Node of a claim: taken into service, kept recognisable, taken out and deleted.
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
    // Before the informers run.
    void subscribe() { hints_.subscribe(); }

    // Labels, annotations, taints, providerID; then Registered. A Node that its kubelet made anew gets them
    // back.
    asio::awaitable<kube::Result> register_node(Observation observation);
    // Puts back the labels and taints whose time has come, and records how often, so that pauses grow.
    asio::awaitable<kube::Result> put_back(Observation observation);
    // The token is deleted and the boot image taken out: nobody can join with them any more.
    asio::awaitable<kube::Result> discard_boot_data(Observation observation);
    // Asks the API server for the Node that the cache has lost. If it is gone, there is nothing to drain on a
    // machine that leaves, and one that serves is to be replaced.
    asio::awaitable<kube::Result> confirm_gone(Observation observation);
    // Asks the API server for a Node of a machine that is about to go and is not known to have joined. If
    // there is none, the removal of the machine is recorded as begun.
    asio::awaitable<kube::Result> look(Observation observation);
    // Whether the API server has a Node of the claim's machine; the cache has it then, too.
    asio::awaitable<bool> has_joined(ClaimPointer claim);
    asio::awaitable<kube::Result> taint(Observation observation);
    // Takes off what taint() put on it: the Node serves again.
    asio::awaitable<kube::Result> untaint(Observation observation);
    // Our labels on the Node of an adopted machine: they are what says from then on that it is the claim's.
    asio::awaitable<void> label(Observation observation, NodePointer node);
    // Takes our label and taint off a Node that stays with its user.
    asio::awaitable<kube::Result> release(Observation observation);
    // Only a Node with the claim's label is deleted; one that is ours by its identity gets it first.
    asio::awaitable<kube::Result> remove(Observation observation);

private:
    // Whether the Node that the claim's status names is there and is the claim's.
    asio::awaitable<bool> has_live_node(ClaimPointer claim);
    asio::awaitable<void> patch(NodePointer before, api::Node after);
    // The same with pauses that grow: another program may undo it each time. `change` names it.
    asio::awaitable<kube::Result> patch_with_pauses(Observation observation, api::Node after,
                                                    std::string change);
    // The field managers that wrote what is due, in its order.
    asio::awaitable<std::vector<std::string>> writers_of(Observation observation, std::vector<Deviation> due);

    DeletionHints hints_;
    PatchPauses pauses_;
};

}  // namespace controllers::claim
