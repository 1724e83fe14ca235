// The whole operator. Its constructor lists all parts. Everything external (API server, providers, time,
// randomness) is passed in, so tests run it with servers in memory.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/http_client.hpp"
#include "base/http_server.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "controllers/cache/managed_namespaces.hpp"
#include "controllers/services/rights_keeper.hpp"
#include "kube/client.hpp"
#include "kube/leader_election.hpp"
#include "operator/probe_server.hpp"

namespace kubenodesmith {

namespace asio = boost::asio;

struct OperatorSettings {
    bool leader_elect = false;
    kube::LeaderElectionOptions election;  // without a namespace: see lease_namespace.hpp
    controllers::ManagedNamespaces namespaces;
    // The ClusterRole with the rights on Secrets in a managed namespace.
    std::string credentials_role = controllers::kCredentialsRole;
    int concurrent_claims = 16;
    bool kproximate_metrics = false;
    bool keeps_history = false;  // samples for the status page, in memory
    // URL at which machines reach boot_data_handler(), without a final slash; empty: none.
    std::string boot_data_url;
    // Limit of the time for work in hand after stop().
    base::Duration grace = std::chrono::seconds{20};
};

// OperatorEnvironment holds external services. Its references must outlive the operator.
struct OperatorEnvironment {
    asio::any_io_executor executor;
    base::Clock& clock;
    base::Random& random;
    std::unique_ptr<base::HttpTransport> api_server;  // authenticates each request
    std::function<std::unique_ptr<base::HttpTransport>(base::HttpClientOptions)> connect_provider;
};

class Operator {
public:
    // End says why run() returned.
    enum class End { stopped, lost_lease };

    Operator(OperatorEnvironment environment, OperatorSettings settings);
    ~Operator();

    // Waits for the API server and our CRDs, syncs, leads and reconciles. Throws errors that no retry can
    // correct.
    asio::awaitable<End> run();
    // Begins an orderly end: work in hand may finish within the grace, then the lease is released.
    void stop();

    // Answers machines that fetch their boot data, whether this process leads or not.
    base::HttpHandler boot_data_handler();
    // Reports whether a request for boot data has a plausible key.
    std::function<bool(const base::HttpRequest&)> boot_data_precedence() const;
    kube::Client& client();
    Readiness readiness() const;
    const base::MetricsRegistry& metrics() const;
    // Returns the operator's knowledge as JSON, for people who investigate.
    std::string debug_state() const;
    // Returns the document of the status page as JSON.
    std::string status_document() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kubenodesmith
