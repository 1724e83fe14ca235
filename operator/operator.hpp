// The whole operator, made of its parts: reading the constructor shows what exists. Everything outside
// (API server, providers, time, randomness) comes through seams, so tests run it against servers in memory.
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
    // The ClusterRole that gives the rights on Secrets in a managed namespace.
    std::string credentials_role = controllers::kCredentialsRole;
    int concurrent_claims = 16;
    bool kproximate_metrics = false;
    // Where machines reach what boot_data_handler() answers, without a slash at the end; empty: nowhere.
    std::string boot_data_url;
    // How long work in hand may take to end after stop().
    base::Duration grace = std::chrono::seconds{20};
};

// References outlive the operator.
struct OperatorEnvironment {
    asio::any_io_executor executor;
    base::Clock& clock;
    base::Random& random;
    std::unique_ptr<base::HttpTransport> api_server;  // authenticates each request
    std::function<std::unique_ptr<base::HttpTransport>(base::HttpClientOptions)> connect_provider;
};

class Operator {
public:
    // Why run() returned.
    enum class End { stopped, lost_lease };

    Operator(OperatorEnvironment environment, OperatorSettings settings);
    ~Operator();

    // Waits for the API server and our CRDs, syncs, leads and reconciles. Throws what no retry can mend.
    asio::awaitable<End> run();
    // Begins an orderly end: work in hand is finished within the grace, the lease is given up.
    void stop();

    // Answers machines that fetch their boot data; whether this process leads makes no difference.
    base::HttpHandler boot_data_handler();
    // Reports whether a request for boot data has a key that may be right.
    std::function<bool(const base::HttpRequest&)> boot_data_precedence() const;
    kube::Client& client();
    Readiness readiness() const;
    const base::MetricsRegistry& metrics() const;
    // What the operator believes, as JSON, for people who ask why.
    std::string debug_state() const;
    // The same for a browser.
    std::string status_page() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kubenodesmith
