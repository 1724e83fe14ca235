// Takes a machine out of the world: its pods elsewhere, the machine verified gone, its token revoked.
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
    // Whatever goes wrong, the claim keeps its finalizer until the machine is verified gone or the user says
    // so.
    asio::awaitable<kube::Result> remove_machine(Observation observation);
    // The machine of a failed claim stays for a look.
    asio::awaitable<kube::Result> stop_machine(Observation observation);
    // The machine stays, but carries our mark no more.
    asio::awaitable<kube::Result> release_machine(Observation observation);
    asio::awaitable<kube::Result> revoke_token(Observation observation);

private:
    // Of a machine that nobody has heard join; empty if its Node is known, and drained.
    providers::InUseCheck in_use_check(const Observation& observation);

    Drainer& drainer_;
    NodeKeeper& nodes_;
};

}  // namespace controllers::claim
