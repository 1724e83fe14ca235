// The status of a NodeSmithHost: who it is, what it offers, how it is and where it stands in its life. Its
// BMC is asked when its spec changes, after a claim gave it back, and at the intervals of the provider's
// spec.redfish.polling; everything else follows from what is known. Writes nothing while nothing changes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"
#include "providers/host_report.hpp"

namespace controllers {

using HostPointer = std::shared_ptr<const api::v1alpha1::NodeSmithHost>;

// What the status of a host follows from.
struct HostFacts {
    const api::v1alpha1::NodeSmithHost& host;
    const providers::HostReport* report = nullptr;         // null: its BMC was not asked yet
    const api::v1alpha1::NodeSmithClaim* claim = nullptr;  // the one that has it; null: none, or it is gone
    std::string twin;  // an older host with the same system UUID; empty: there is none
    // When the BMC said what the report says; nullopt: it was not asked by this process.
    std::optional<api::Time> looked;
    std::int32_t failed_looks = 0;  // in a row, this one included; those before a restart too
    bool has_ready_node = false;    // the claim's Node runs there and is Ready
    std::string node_uid;           // of the claim's Node; empty: it has none
    std::string node;               // of the cluster, with the host's UUID, though no claim has the host
    api::Time now;
};

// Pure. docs/redfish.md tells the phases and reasons.
api::v1alpha1::HostStatus next_host_status(const HostFacts& facts);

class HostReconciler final : public kube::Reconciler {
public:
    // All must outlive this.
    HostReconciler(Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random,
                   kube::EventRecorder& events, base::MetricsRegistry& metrics, ProviderInstances& instances);

    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;
    // Logs out of all BMCs; when nobody else asks them any more.
    asio::awaitable<void> end_sessions();

private:
    struct Look {
        std::int64_t generation = 0;
        std::string claim_uid;
        std::optional<providers::HostReport> report;
        std::optional<api::Time> at;  // of the report
        base::TimePoint next{};
        int failures = 0;  // in a row, also of earlier processes; no more than count
    };

    asio::awaitable<void> tend_credentials(kube::ObjectKey key);
    // A claim that has not ended had its machine on this host.
    bool is_looked_for(const api::v1alpha1::NodeSmithHost& host) const;
    // It is being deleted, and neither its claim nor its provider exists.
    asio::awaitable<bool> has_nobody(api::v1alpha1::NodeSmithHost host);
    asio::awaitable<void> release_unseen(api::v1alpha1::NodeSmithHost host);
    // The object is gone although its finalizer should have held it.
    asio::awaitable<void> release_after_force(kube::ObjectKey key);
    void begin(const kube::ObjectKey& key, const api::v1alpha1::NodeSmithHost& host);
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
        std::string uid;  // of the host
    };
    std::map<kube::ObjectKey, Protection> protections_;  // as last seen
};

}  // namespace controllers
