// The status of a NodeSmithProvider: examined when its spec changes, again after machines came or went, soon
// (with backoff) after a failure, and every few minutes when all is well. Wrong input ends in a condition
// that says what would be right. Writes nothing while nothing changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "controllers/cache/context.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

// What one examination has shown; either `unavailable` or `health`.
struct ProviderExamination {
    std::optional<ProviderUnavailable> unavailable;  // there is no backend: wrong spec or Secret
    providers::Health health;
    std::vector<providers::HostOffering> hosts;  // only if health is good
    CredentialsObstacle credentials;             // without a reason: the Secret is as protected as it must be
    std::string left;  // what a provider that is being deleted waits for, beside claims

    bool good() const {
        return !unavailable && health.credentials_ok && health.reachable && health.reason.empty() &&
               health.template_reason.empty();
    }
};

// What of the configuration cannot work although the backend answers, with what would be right.
struct ConfigurationFault {
    std::string message;      // empty: nothing
    bool everywhere = false;  // no machine can be made at all
};
ConfigurationFault configuration_fault(const ProviderExamination& examination);

// A person has confirmed by an annotation that the provider moves to this cluster.
bool accepts_cluster(const NodeSmithProvider& provider, const providers::BackendCluster& cluster);

// Pure: the status after an examination, hosts by name.
api::v1alpha1::ProviderStatus next_status(const NodeSmithProvider& provider,
                                          const ProviderExamination& examination, api::Time now);

class ProviderReconciler final : public kube::Reconciler, InContext {
public:
    ProviderReconciler(const Context& context, ProviderInstances& instances);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    using Pointer = ProviderPointer;

    asio::awaitable<ProviderExamination> examine(kube::ObjectKey key);
    asio::awaitable<void> write(Pointer before, ProviderExamination examination);
    // An acceptance serves once: later moves are confirmed anew.
    asio::awaitable<void> drop_acceptance(Pointer provider);
    struct Leaving {
        std::int64_t claims = 0;  // that have a machine of it
        std::string orphans;      // see orphans_of(), without claims
        std::string left;         // see dismantle(), without claims
    };
    asio::awaitable<Leaving> leave(Pointer provider);
    asio::awaitable<kube::Result> finalize(Pointer provider, Leaving leaving);
    asio::awaitable<std::string> dismantle(Pointer provider);
    // Orphans that the collector of garbage will remove while the provider is there to do so; empty: none.
    asio::awaitable<std::string> orphans_of(Pointer provider);
    // What is said to be left where it could not be looked at; empty: nothing can be left.
    static std::string unseen(const api::v1alpha1::NodeSmithProvider& provider, const std::string& why);
    // Protects the Secret while machines need it, and releases it afterwards.
    asio::awaitable<CredentialsObstacle> tend_credentials(Pointer provider);
    // Claims with a machine of this provider, by a live list.
    asio::awaitable<std::int64_t> claims_in_use(kube::ObjectKey provider);
    // A claim in the store has its machine from this provider.
    bool has_machines(const kube::ObjectKey& provider) const;
    // The object is gone although its finalizer should have held it.
    asio::awaitable<void> release_after_force(kube::ObjectKey key);
    bool uses(const NodeSmithClaim& claim, const kube::ObjectKey& provider) const;
    void warn_of_ineffective_settings(const NodeSmithProvider& provider);

    ProviderInstances& instances_;
    base::Family<base::Gauge>& ready_;
    std::map<kube::ObjectKey, int> failures_;
    std::map<kube::ObjectKey, int> dismantlings_;  // attempts, of providers that are being deleted
    std::map<kube::ObjectKey, base::TimePoint> orphans_since_;
    struct Protection {
        std::string secret;
        std::string uid;  // of the provider
    };
    std::map<kube::ObjectKey, Protection> protections_;  // as last seen
    std::map<kube::ObjectKey, std::int64_t> warned_generation_;
};

}  // namespace controllers
