// Takes up the machine of a claim that has lost its status: a tool restored the claim without it, or somebody
// replaced it. A second machine would have the same system UUID and MAC addresses.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "kube/controller.hpp"
#include "providers/machine.hpp"

namespace controllers::claim {

class Recovery : public Actor {
public:
    explicit Recovery(const Means& means) : Actor(means) {}

    // Asks the provider for machines with the claim's mark. nullopt: there is none. Otherwise the status says
    // which machine it is, or why none can be taken up. Throws ProviderError, ApiError.
    asio::awaitable<std::optional<kube::Result>> take_up(Observation observation);

private:
    // Another claim has the machine on record.
    bool is_of_another(const Observation& observation, const providers::Machine& machine) const;
    asio::awaitable<kube::Result> wait(Observation observation, std::string_view reason, std::string message);
    asio::awaitable<kube::Result> record(Observation observation, providers::Machine machine);
};

}  // namespace controllers::claim
