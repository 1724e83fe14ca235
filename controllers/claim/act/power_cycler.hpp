// Switches the machine of a broken node off and on again.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/actor.hpp"
#include "kube/controller.hpp"

namespace controllers::claim {

class PowerCycler : Actor {
public:
    explicit PowerCycler(const Means& means) : Actor(means) {}

    // Takes the next permitted step. A refusal of the provider ends the power cycle.
    asio::awaitable<kube::Result> step(Observation observation);

private:
    asio::awaitable<ClaimStatus> switch_power(Observation observation);
    asio::awaitable<bool> is_ready_now(kube::ObjectKey node);
};

}  // namespace controllers::claim
