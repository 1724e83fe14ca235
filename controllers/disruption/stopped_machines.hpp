// Knows whether machines of Nodes that are not Ready are switched off. Asks the providers, each in a key of
// its own, so that one that hangs holds up neither the others nor the decisions, which are made from the
// answers that are there.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"

namespace controllers::disruption {

// Keys are those of NodeSmithProviders.
class StoppedMachines final : public kube::Reconciler {
public:
    StoppedMachines(Informers& informers, base::Clock& clock, ProviderInstances& instances)
        : informers_(informers), clock_(clock), instances_(instances) {}

    void subscribe(kube::WorkQueue& queue);
    // Called with the key of the pool of which a machine was found stopped, or is no longer.
    void on_change(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }
    // Asks about the provider's machines that were not asked about for a while.
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey provider) override;

    bool contains(const std::string& claim_uid) const;
    void forget(const std::string& claim_uid);

private:
    // How long its Node must still be not Ready before its machine is worth a look; nullopt: it is Ready, or
    // nobody wants to know.
    std::optional<base::Duration> worth_a_look_in(const NodeSmithClaim& claim) const;
    asio::awaitable<void> ask(ClaimPointer claim);

    Informers& informers_;
    base::Clock& clock_;
    ProviderInstances& instances_;
    std::function<void(const kube::ObjectKey&)> listener_;
    std::map<std::string, base::TimePoint> asked_;  // by claim UID
    std::map<std::string, bool> stopped_;           // by claim UID
};

}  // namespace controllers::disruption
