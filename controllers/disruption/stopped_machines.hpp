// Knows whether machines of Nodes that are not Ready are switched off. It asks each provider under a separate
// key, so that a provider that hangs delays no other one. Decisions use the answers that exist.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"

namespace controllers::disruption {

// The keys are those of NodeSmithProviders.
class StoppedMachines final : public kube::Reconciler {
public:
    StoppedMachines(Informers& informers, base::Clock& clock, ProviderInstances& instances)
        : informers_(informers), clock_(clock), instances_(instances) {}

    void subscribe(kube::WorkQueue& queue);
    // Sets a listener. It gets the key of a pool when one of its machines is
    // found stopped, or no longer stopped.
    void on_change(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }
    // Asks about the provider's machines that were not checked for a while.
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey provider) override;

    bool contains(const std::string& claim_uid) const;
    void forget(const std::string& claim_uid);

private:
    // Returns how much longer the Node must be not Ready before its machine is checked; nullopt: it is
    // Ready, or no one needs the answer.
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
