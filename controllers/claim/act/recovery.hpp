// Finds the machine of a claim that has lost its status. A tool restored the claim without it, or someone
// replaced it. A second machine would have the same system UUID and MAC addresses.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "kube/controller.hpp"
#include "providers/machine.hpp"

namespace controllers::claim {

class Recovery : public Actor {
public:
    explicit Recovery(const Means& means) : Actor(means) {}

    // Asks the provider for machines with the claim's mark; nullopt: none exists. Otherwise the status names
    // the machine, or why none can be recovered. Throws ProviderError, ApiError.
    asio::awaitable<std::optional<kube::Result>> take_up(Observation observation);

private:
    bool is_of_another(const NodeSmithProvider& provider, const NodeSmithClaim& claim,
                       const providers::Machine& machine) const;
    struct Found {
        std::vector<providers::Machine> own;  // machines with the claim's mark
        std::string obstacle;                 // why there may be more; empty: there are none
    };
    asio::awaitable<Found> look(ProviderPointer provider, const NodeSmithClaim& claim);
    asio::awaitable<kube::Result> wait(Observation observation, std::string_view reason, std::string message);
    asio::awaitable<providers::Machine> as_it_stands(ProviderPointer provider, providers::Machine machine);
    asio::awaitable<kube::Result> record(Observation observation, providers::Machine machine);
};

}  // namespace controllers::claim
