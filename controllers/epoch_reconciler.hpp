// Looks once a minute whether another operator owns the machines of a provider, as after a disaster drill
// with a copy of the control plane. Until that is excluded, nothing of the provider is destroyed. If another
// one is found, the condition OtherOperatorFound names both, and a person decides.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "controllers/cache/context.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/services/provider_instances.hpp"
#include "controllers/state/operator_epoch.hpp"
#include "kube/controller.hpp"

namespace controllers {

// The keys are those of NodeSmithProviders. It is used with leader election only.
class EpochReconciler final : public kube::Reconciler, InContext {
public:
    EpochReconciler(const Context& context, ProviderInstances& instances,
                    std::function<kube::LeaderEpochs()> leader);
    void subscribe(kube::WorkQueue& queue);
    void begin() override;
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

    // Returns why nothing of the provider with this UID may be destroyed.
    providers::RemovalHold why_not_destroy(const std::string& provider_uid) const;

private:
    // Throws ProviderError.
    asio::awaitable<void> look(ProviderPointer provider, providers::EpochKeeper& keeper);
    asio::awaitable<void> report(kube::ObjectKey key);
    // Removes the annotation that a person set, once it has taken effect.
    asio::awaitable<void> drop_statement(kube::ObjectKey key, std::string epoch);

    ProviderInstances& instances_;
    std::function<kube::LeaderEpochs()> leader_;
    bool leads_from_nothing_ = false;
    std::map<std::string, EpochState> states_;  // by the provider's UID
    std::map<kube::ObjectKey, std::string> uids_;
};

}  // namespace controllers
