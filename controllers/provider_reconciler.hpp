// Writes the status of a NodeSmithProvider. It examines the provider when its spec changes and after machines
// were created or removed. It does so soon after a failure (with backoff), and otherwise every few minutes. A
// condition explains how to correct wrong input. It writes only changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "controllers/cache/context.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provider_status.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

class ProviderReconciler final : public kube::Reconciler, InContext {
public:
    ProviderReconciler(const Context& context, ProviderInstances& instances);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    using Pointer = ProviderPointer;

    asio::awaitable<ProviderExamination> examine(kube::ObjectKey key);
    asio::awaitable<void> write(Pointer before, ProviderExamination examination);
    // Removes the annotation. An acceptance is valid once, so each later move needs another one.
    asio::awaitable<void> drop_acceptance(Pointer provider);
    // Orphans are machines without a claim.
    struct Orphans {
        std::string removable;  // the garbage collector or a person may still remove them; empty: none
        std::string kept;       // nobody will remove them; empty: none
    };
    struct Leaving {
        std::int64_t claims = 0;  // claims that have a machine of this provider
        Orphans orphans;          // not filled while there are claims
        std::string left;         // see dismantle(); not filled while there are claims
    };
    asio::awaitable<Leaving> leave(Pointer provider);
    asio::awaitable<kube::Result> finalize(Pointer provider, Leaving leaving);
    // Writes why the Secret of a provider that is being deleted could not be released.
    asio::awaitable<void> say_not_released(kube::ObjectKey key);
    asio::awaitable<std::string> dismantle(Pointer provider);
    asio::awaitable<Orphans> orphans_of(Pointer provider);
    // Returns what may be left if the backend cannot be examined; empty: nothing can be left.
    static std::string unseen(const api::v1alpha1::NodeSmithProvider& provider, const std::string& why);
    // Protects the Secret while machines need it, and releases it afterwards.
    asio::awaitable<CredentialsObstacle> tend_credentials(Pointer provider);
    // Counts the claims with a machine of this provider, by a live list.
    asio::awaitable<std::int64_t> claims_in_use(kube::ObjectKey provider);
    // Reports whether a claim in the store has its machine from this provider.
    bool has_machines(const kube::ObjectKey& provider) const;
    // Releases the Secret of a provider that was deleted in spite of its finalizer.
    asio::awaitable<void> release_after_force(kube::ObjectKey key);
    bool uses(const NodeSmithClaim& claim, const kube::ObjectKey& provider) const;
    void warn_of_ineffective_settings(const NodeSmithProvider& provider);

    ProviderInstances& instances_;
    base::Family<base::Gauge>& ready_;
    std::map<kube::ObjectKey, int> failures_;
    std::map<kube::ObjectKey, int> dismantlings_;  // attempts, for providers that are being deleted
    std::map<kube::ObjectKey, base::TimePoint> orphans_since_;
    struct Protection {
        std::string secret;
        std::string uid;  // UID of the provider
    };
    std::map<kube::ObjectKey, Protection> protections_;  // as last seen
    // Refusals to release the Secrets of providers that are being deleted.
    std::map<kube::ObjectKey, CredentialsObstacle> releases_refused_;
    std::map<kube::ObjectKey, std::int64_t> warned_generation_;
};

}  // namespace controllers
