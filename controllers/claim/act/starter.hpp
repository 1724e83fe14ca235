// Has the machine of a node in service started again where it is off although nobody switched it off.
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

    // Asks the provider, unless it was asked a moment ago, and notes in PoweredOff what came of it.
    asio::awaitable<kube::Result> step(Observation observation);
    void forget(const kube::ObjectKey& claim) { next_.erase(claim); }

private:
    // Returns after what time to ask again.
    asio::awaitable<base::Duration> ask(Observation observation);

    std::map<kube::ObjectKey, base::TimePoint> next_;  // by claim
};

// Returns the status after the provider could not tell, or could not start the machine.
ClaimStatus after_vain_restart(const Situation& situation, const std::string& message);
// Returns the status after the provider's answer.
ClaimStatus after_restart(const Situation& situation, const providers::RestartResult& result);

}  // namespace controllers::claim
