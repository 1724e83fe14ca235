// Writes the status of a NodeSmithHost: its identity, capacity, health and phase. It queries the BMC when the
// spec changes and after a claim released the host. It also does so at the intervals of the provider's
// spec.redfish.polling. It writes only changes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/host_status.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"
#include "providers/host_report.hpp"

namespace controllers {

using HostPointer = std::shared_ptr<const api::v1alpha1::NodeSmithHost>;

class HostReconciler final : public kube::Reconciler {
public:
    // All arguments must outlive this object.
    HostReconciler(Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random,
                   kube::EventRecorder& events, base::MetricsRegistry& metrics, ProviderInstances& instances);

    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;
    // Logs out of all BMCs. Must be called when no other code queries them.
    asio::awaitable<void> end_sessions();

private:
    struct Look {
        std::string uid;  // of the host that it was about
        std::int64_t generation = 0;
        std::string claim_uid;
        std::optional<providers::HostReport> report;
        std::optional<api::Time> at;  // time of the report
        bool is_off_new = false;      // the report says Off, and the one before said On
        bool had_claim = false;       // when it was written
        base::TimePoint next{};
        int failures = 0;  // consecutive ones, including those of earlier processes; at most kMostFailures
    };

    // Protects or releases the host's Secret. Returns false if it must be tried again.
    asio::awaitable<bool> tend_credentials(kube::ObjectKey key);
    // Returns false if the Secret could not be released.
    asio::awaitable<bool> release(api::v1alpha1::NodeSmithHost host);
    // Reports whether a claim that has not ended had its machine on this host.
    bool is_looked_for(const api::v1alpha1::NodeSmithHost& host) const;
    // Reports whether the host is being deleted while neither its claim nor its provider exists.
    asio::awaitable<bool> has_nobody(api::v1alpha1::NodeSmithHost host);
    asio::awaitable<void> release_unseen(api::v1alpha1::NodeSmithHost host);
    // Releases the Secret of a host that was deleted in spite of its finalizer.
    asio::awaitable<void> release_after_force(kube::ObjectKey key);
    void begin_look(const kube::ObjectKey& key, const api::v1alpha1::NodeSmithHost& host);
    bool is_due(const Look& look, const api::v1alpha1::NodeSmithHost& host) const;
    base::Duration until_news(const kube::ObjectKey& key);
    asio::awaitable<void> ask(kube::ObjectKey key, HostPointer host);
    base::Duration pause_after(const Look& look, const api::v1alpha1::NodeSmithHost& host);
    base::Duration interval(const api::v1alpha1::NodeSmithHost& host) const;
    asio::awaitable<void> write(kube::ObjectKey key);
    HostFacts facts_of(const HostPointer& host,
                       const std::shared_ptr<const api::v1alpha1::NodeSmithClaim>& claim,
                       const Look& look) const;
    void forget(const kube::ObjectKey& key);
    void count(const api::v1alpha1::NodeSmithHost& host);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    base::Random& random_;
    kube::EventRecorder& events_;
    ProviderInstances& instances_;
    base::Family<base::Gauge>& ready_;
    std::map<kube::ObjectKey, Look> looks_;
    struct Protection {
        std::string secret;
        std::string uid;  // UID of the host
    };
    std::map<kube::ObjectKey, Protection> protections_;  // as last seen
};

}  // namespace controllers
