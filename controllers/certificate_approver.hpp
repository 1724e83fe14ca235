// Approves and denies the certificates that the kubelets of claims' machines request. bootstrap/approval.hpp
// decides, using the claim and its provider's data. It trusts nothing that a Node says about itself.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "base/gate.hpp"
#include "bootstrap/approval.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/act/boot_data.hpp"
#include "controllers/claim/provider_lanes.hpp"
#include "controllers/cluster_addresses.hpp"
#include "controllers/services/machine_reports.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"
#include "kube/watches.hpp"

namespace controllers {

// Returns what the claim records about the machine that may request its first certificate.
bootstrap::Joiner joiner_of(const NodeSmithClaim& claim);

class CertificateApprover final : public kube::Reconciler {
public:
    struct Parts {
        Informers& informers;
        kube::Client& client;
        base::Clock& clock;
        base::Random& random;
        kube::EventRecorder& events;
        base::MetricsRegistry& metrics;
        const claim::BootData& boot_data;
        MachineReports& machine_reports;
    };
    CertificateApprover(Parts parts, asio::any_io_executor executor);

    void subscribe(kube::WorkQueue& queue);
    // Follows the requests until cancelled. No other part waits for it: if the cluster forbids reading
    // them, machines are still created.
    asio::awaitable<void> watch() { return requests_.run(); }
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;
    // Returns the finder of the cluster's addresses, which has a separate work queue.
    ClusterAddressFinder& cluster_addresses() { return cluster_; }

private:
    using Request = api::CertificateSigningRequest;
    using RequestPointer = kube::Store<Request>::Pointer;

    // Returns the claim whose machine asks; null: the request is not ours, or the
    // operator does not approve for it.
    ClaimPointer claim_of(const Request& request) const;
    api::v1alpha1::Bootstrap settings_of(const NodeSmithClaim& claim) const;
    bool is_served(const NodeSmithClaim& claim) const;
    kube::Keys open_requests_of(const NodeSmithClaim& claim) const;
    std::vector<RequestPointer> newest_of(const std::string& node) const;
    bool is_crowded_out(const Request& request) const;
    // Returns nullopt if the addresses of the cluster must be found first.
    std::optional<bootstrap::Approval> judge(const Request& request, const ClaimPointer& claim);
    // Reports whether the operator gave the machine all addresses that the request names.
    bool names_only_given(const Request& request, const NodeSmithClaim& claim) const;
    // Lists the Nodes, unless that was done since then. Returns false if the last list was a moment ago.
    asio::awaitable<bool> read_nodes_since(base::TimePoint since);
    asio::awaitable<void> look_for_namesake(ClaimPointer claim);
    // Records the key in the claim's status before its certificate is approved.
    asio::awaitable<void> remember_key(ClaimPointer claim, std::string key_sha256);
    asio::awaitable<void> write(Request request, bootstrap::Approval approval);
    // Records the key if that is needed, and writes the decision. Returns the words of a refusal; empty: it
    // is written.
    asio::awaitable<std::string> carry_out(Request request, ClaimPointer claim, bootstrap::Approval approval);
    void note_refusal(const Request& request, const NodeSmithClaim& claim,
                      const bootstrap::Approval& approval, const std::string& refusal);
    // Forgets a request that is decided or gone.
    void forget(const Request& request);
    void tell(const Request& request, const NodeSmithClaim& claim, const bootstrap::Approval& approval);
    void tell_left(const Request& request, const NodeSmithClaim& claim, const bootstrap::Approval& approval);

    Parts parts_;
    // One request of a namespace at a time: a webhook of its claims may hang for 30 s.
    claim::ProviderLanes lanes_;
    base::Gate lists_;  // one list of the Nodes at a time, which all requests share
    kube::Informer<Request> requests_;
    ClusterAddressFinder cluster_;
    std::map<std::string, std::string> told_;         // last message about each pending request, by UID
    std::map<std::string, base::TimePoint> arrived_;  // when an open request was first seen, by UID
    std::optional<base::TimePoint> nodes_read_;
    base::Family<base::Counter>& judged_;
};

}  // namespace controllers
