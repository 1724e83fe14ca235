// Approves and denies the certificates that the kubelets of claims' machines ask for. What is approved is
// decided in bootstrap/approval.hpp by what the claim is, what its provider knows, and nothing that a Node
// says of itself.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "bootstrap/approval.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/act/boot_data.hpp"
#include "controllers/cluster_addresses.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"
#include "kube/watches.hpp"

namespace controllers {

// What a claim says of the machine that may ask for its first certificate.
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
    };
    CertificateApprover(Parts parts, asio::any_io_executor executor);

    void subscribe(kube::WorkQueue& queue);
    // Follows the requests until cancelled. Nobody waits for it: a cluster that does not let them be read
    // still gets machines.
    asio::awaitable<void> watch() { return requests_.run(); }
    // The API server's data was restored from a backup.
    void list_anew() { requests_.list_anew(); }
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;
    // Finds the addresses of the cluster itself, in a queue of its own.
    ClusterAddressFinder& cluster_addresses() { return cluster_; }

private:
    using Request = api::CertificateSigningRequest;

    // The claim whose machine asks; null: it is not ours, or the operator does not approve for it.
    ClaimPointer claim_of(const Request& request) const;
    bool is_served(const NodeSmithClaim& claim) const;
    kube::Keys open_requests_of(const NodeSmithClaim& claim) const;
    // nullopt: the addresses of the cluster itself have to be found first.
    std::optional<bootstrap::Approval> judge(const Request& request, const ClaimPointer& claim);
    asio::awaitable<void> look_for_namesake(ClaimPointer claim);
    // The key stands in the claim's status before its certificate is approved.
    asio::awaitable<void> remember_key(ClaimPointer claim, std::string key_sha256);
    asio::awaitable<void> write(Request request, bootstrap::Approval approval);
    void tell(const Request& request, const NodeSmithClaim& claim, const bootstrap::Approval& approval);
    void tell_left(const Request& request, const NodeSmithClaim& claim, const bootstrap::Approval& approval);

    Parts parts_;
    kube::Informer<Request> requests_;
    ClusterAddressFinder cluster_;
    std::map<std::string, std::string> told_;  // what was said of requests that are left, by UID
    base::Family<base::Counter>& judged_;
};

}  // namespace controllers
