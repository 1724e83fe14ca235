// Claims of the Go project KubeNodeSmith: their machines exist, but carry no mark of ours. What is proven is
// taken over; nothing else is touched, and nothing is launched for such a claim.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/act/node_keeper.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "kube/controller.hpp"
#include "providers/capabilities.hpp"

namespace controllers::claim {

// `system_uuid`: the Node's, which the machine was proven by. Pure.
ClaimStatus after_adoption(const Situation& situation, const providers::AdoptResult& result,
                           const std::string& system_uuid);

class Adoption : Actor {
public:
    Adoption(const Means& means, NodeKeeper& nodes) : Actor(means), nodes_(nodes) {}

    // The mark is written into the machine, and our label on its Node, before the status says that it is
    // ours.
    asio::awaitable<kube::Result> adopt(Observation observation);

private:
    asio::awaitable<providers::AdoptResult> prove(Observation observation, NodePointer node);
    asio::awaitable<providers::AdoptResult> ask_provider(Observation observation, NodePointer node);

    NodeKeeper& nodes_;
};

}  // namespace controllers::claim
