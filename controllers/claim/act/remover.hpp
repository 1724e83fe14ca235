// Removes a machine: drains its pods, verifies that the machine is gone, and revokes its token.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/act/node_keeper.hpp"
#include "controllers/services/drain.hpp"
#include "kube/controller.hpp"

namespace controllers::claim {

class Remover : Actor {
public:
    Remover(const Means& means, Drainer& drainer, NodeKeeper& nodes)
        : Actor(means), drainer_(drainer), nodes_(nodes) {}

    asio::awaitable<kube::Result> drain(Observation observation);
    // Removes the machine. The claim keeps its finalizer until the machine is verified
    // gone or the user declares it gone.
    asio::awaitable<kube::Result> remove_machine(Observation observation);
    // Stops the machine of a failed claim and keeps it for inspection.
    asio::awaitable<kube::Result> stop_machine(Observation observation);
    // Keeps the machine but removes our mark from it.
    asio::awaitable<kube::Result> release_machine(Observation observation);
    asio::awaitable<kube::Result> revoke_token(Observation observation);

private:
    // Returns a check for a machine that is not known to have joined; empty if its Node is known or drained.
    providers::InUseCheck in_use_check(const Observation& observation);

    Drainer& drainer_;
    NodeKeeper& nodes_;
};

}  // namespace controllers::claim
