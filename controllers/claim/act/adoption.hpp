// Adopts claims of the Go project KubeNodeSmith. Their machines exist but carry no mark of this operator. It
// takes over what is proven and touches nothing else. It launches nothing for such a claim.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/act/node_keeper.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "kube/controller.hpp"
#include "providers/capabilities.hpp"

namespace controllers::claim {

// Returns the status after the adoption. `system_uuid` is the Node's UUID, which proved the machine. Pure.
ClaimStatus after_adoption(const Situation& situation, const providers::AdoptResult& result,
                           const std::string& system_uuid);

class Adoption : Actor {
public:
    Adoption(const Means& means, NodeKeeper& nodes) : Actor(means), nodes_(nodes) {}

    // Writes the mark into the machine and our label onto its Node before the status claims the machine.
    asio::awaitable<kube::Result> adopt(Observation observation);

private:
    asio::awaitable<providers::AdoptResult> prove(Observation observation, NodePointer node);
    asio::awaitable<providers::AdoptResult> ask_provider(Observation observation, NodePointer node);

    NodeKeeper& nodes_;
};

}  // namespace controllers::claim
