// Restarts the machine of a node in service if it is off and no person switched it off.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>

#include "controllers/claim/act/actor.hpp"
#include "kube/controller.hpp"
#include "providers/capabilities.hpp"

namespace controllers::claim {

class Starter : Actor {
public:
    explicit Starter(const Means& means) : Actor(means) {}

    // Asks the provider, unless it was asked recently, and records the result in PoweredOff.
    asio::awaitable<kube::Result> step(Observation observation);
    void forget(const kube::ObjectKey& claim) { next_.erase(claim); }

private:
    // Returns how long to wait before the next query.
    asio::awaitable<base::Duration> ask(Observation observation);

    std::map<kube::ObjectKey, base::TimePoint> next_;  // by claim
};

// Returns the status after the provider did not know the machine's state or could not start it.
ClaimStatus after_vain_restart(const Situation& situation, const std::string& message);
// Returns the status after the provider's answer.
ClaimStatus after_restart(const Situation& situation, const providers::RestartResult& result);

}  // namespace controllers::claim
