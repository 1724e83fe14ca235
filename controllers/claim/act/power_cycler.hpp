// Switches the machine of a broken node off and on again.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/claim/act/writer.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"

namespace controllers::claim {

class PowerCycler {
public:
    // All must outlive this.
    PowerCycler(Informers& informers, kube::Client& client, base::Clock& clock, Writer& writer,
                ProviderInstances& instances)
        : informers_(informers), client_(client), clock_(clock), writer_(writer), instances_(instances) {}

    // One step further, as far as it is permitted; what the provider refuses ends it.
    asio::awaitable<kube::Result> step(Observation observation);

private:
    asio::awaitable<ClaimStatus> switch_power(Observation observation);
    asio::awaitable<bool> is_ready_now(kube::ObjectKey node);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    Writer& writer_;
    ProviderInstances& instances_;
};

}  // namespace controllers::claim
