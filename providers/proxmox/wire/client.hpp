// Carries calls to a Proxmox cluster: authentication, failover between endpoints, limits per host, metrics
// and the fence. It also proves that the cluster is the right one. DNS or a load balancer may lead an
// endpoint to another cluster at any time.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/resource.hpp"
#include "base/gate.hpp"
#include "providers/environment.hpp"
#include "providers/proxmox/wire/call.hpp"

namespace providers::proxmox {

namespace json = boost::json;

// ProxmoxCredentials are either a token or a user with a password.
struct ProxmoxCredentials {
    std::string token_id;  // user@realm!name
    std::string token_secret;
    std::string username;  // user@realm
    std::string password;

    bool is_token() const { return !token_id.empty(); }
};

struct ProxmoxClientOptions {
    api::ObjectKey provider;
    std::string provider_uid;
    std::vector<std::string> endpoints;
    base::TlsClientOptions tls;
    ProxmoxCredentials credentials;
    BackendCluster cluster;  // as recorded; without an ID the first cluster that answers is used
};

// HostAddress is the address of a host's own API.
struct HostAddress {
    std::string host;
    std::string url;                 // one of the endpoints, or another URL
    std::string fingerprint_sha256;  // of its certificate; empty: verified like the endpoints
};

class ProxmoxClient {
public:
    // Throws std::invalid_argument. The environment must outlive the client.
    ProxmoxClient(ProxmoxClientOptions options, ProviderEnvironment& environment);

    // Sends a call that changes nothing. Tries each endpoint until one of the cluster answers. Throws
    // ProxmoxError, OtherClusterError.
    asio::awaitable<json::value> read(Call call);
    // Sends a call that changes something, at most once. A ProxmoxError of kind outcome_unknown means that it
    // may have been done. Throws ProxmoxError, FencedError, and OtherClusterError before anything is sent. A
    // call that destroys fails (kind held or unsettled) while another operator may own the machines.
    asio::awaitable<json::value> change(Call call);
    // Sends the change to that host itself. A ProxmoxError of kind unreachable means that nothing was sent,
    // as the host is unreachable or shows another certificate.
    asio::awaitable<json::value> change_at(HostAddress address, Call call);

    // Returns why no VM may be ended or removed now.
    RemovalHold why_not_destroy() const;
    // Throws ProxmoxError (kind held or unsettled) in that case. Call it before the first step towards a
    // removal.
    void require_sole_operator(const std::string& tried) const;

    // Proves that all answers so far came from the cluster. Call it between reading and concluding that
    // something is missing. Throws ProxmoxError, OtherClusterError.
    asio::awaitable<void> confirm_cluster();
    // Returns the number of the last answer. All answers of a client are numbered in the order they arrive.
    std::uint64_t last_answer() const { return answers_; }
    // Proves that the answers after the one with that number came from endpoints in the majority of their
    // cluster. An endpoint without quorum knows no later changes. Call it before concluding from these
    // answers that something is gone. Throws ProxmoxError, of kind no_quorum if one may come from a minority.
    // An endpoint that hides its quorum is trusted.
    asio::awaitable<void> confirm_quorum(std::uint64_t since);
    // Switches to an endpoint with quorum if the current one has none. Reports whether the endpoint in use
    // has quorum. If that is hidden, the last refused change decides.
    asio::awaitable<bool> seek_quorum();
    // True if an endpoint did not show whether it has quorum.
    bool is_quorum_hidden() const { return is_quorum_hidden_; }
    // Returns the endpoints that lead to another cluster now, with that cluster. Omits silent endpoints.
    asio::awaitable<std::vector<std::string>> misled_endpoints();
    // Returns the cluster of this client, with its recorded name.
    const BackendCluster& cluster() const { return cluster_; }

    // Reports whether the last change was recently refused for lack of quorum.
    bool lacks_quorum() const;

    // Returns the URLs in configured order; current_endpoint() is the one that answered last.
    std::vector<std::string> endpoints() const;
    const std::string& current_endpoint() const { return endpoints_[current_].url; }
    // Reports whether the configured CA can verify a host that is not an endpoint, without its fingerprint.
    bool has_ca() const { return !tls_.ca_bundle_pem.empty() && !tls_.insecure_skip_verify; }
    // Returns user@realm!token or user@realm, as in UPIDs.
    const std::string& user() const;
    // Removes our secrets from a text, as a server may repeat them.
    std::string without_credentials(std::string text) const;

private:
    struct Endpoint {
        std::string url;
        std::unique_ptr<base::HttpTransport> transport;
        bool is_pinned = false;  // the cluster itself reported the certificate that it must show
        std::optional<base::TimePoint> proven_at;
        std::optional<base::TimePoint> cut_off_at;  // last seen without quorum
        std::uint64_t last_answer = 0;              // its number
        std::uint64_t proven_until = 0;             // number of the last answer with a proof of the cluster
        std::uint64_t quorate_until = 0;            // number of the last answer with a proof of quorum
        std::uint64_t doubtful_until = 0;           // number of the last answer before it regained quorum
    };
    struct Ticket {
        std::string cookie;
        std::string csrf_token;
        base::TimePoint renew_at;
    };

    void note_quorum(const Call& call, Endpoint& endpoint, std::optional<ErrorKind> failure);
    void note_majority(Endpoint& endpoint);
    // Returns the endpoint in use first, and endpoints recently without quorum last.
    std::vector<std::size_t> order() const;
    bool is_cut_off(const Endpoint& endpoint) const;
    asio::awaitable<bool> has_quorum(Endpoint& endpoint);
    std::shared_ptr<Endpoint> direct_to(const HostAddress& address);
    asio::awaitable<json::value> attempt(const Call& call, Endpoint& endpoint);
    // Proves the cluster if needed. For a change the proof comes directly before it is sent.
    asio::awaitable<void> prove_for(const Call& call, Endpoint& endpoint);
    // Asks the endpoint for its cluster, unless a proof is not older than max_age.
    asio::awaitable<void> prove(Endpoint& endpoint, base::Duration max_age);
    asio::awaitable<void> ask_for_proof(Endpoint& endpoint);
    asio::awaitable<json::value> ask(const Call& call, Endpoint& endpoint);
    // Returns an empty text if the endpoint does not show it.
    asio::awaitable<std::string> identity_at(Endpoint& endpoint);
    asio::awaitable<std::string> name_at(Endpoint& endpoint);
    void require_credentials(const Call& call) const;
    asio::awaitable<base::HttpResponse> exchange(const Call& call, Endpoint& endpoint);
    asio::awaitable<base::HttpResponse> authorized_exchange(const Call& call, Endpoint& endpoint);
    asio::awaitable<base::HttpResponse> transmit(const Call& call, Endpoint& endpoint,
                                                 base::HttpRequest request);
    asio::awaitable<void> log_in(Endpoint& endpoint);
    void authorize(base::HttpRequest& request) const;
    void mask(base::HttpResponse& response) const;
    // Checks that this process leads and, for calls that destroy, that no other operator owns the machines.
    void require_permission(const Call& call) const;
    [[noreturn]] void refuse_credentials(const Call& call, const std::string& answer);

    ProxmoxCredentials credentials_;
    api::ObjectKey provider_;
    std::string provider_uid_;
    ProviderEnvironment& environment_;
    base::TlsClientOptions tls_;
    std::vector<Endpoint> endpoints_;
    std::uint64_t answers_ = 0;  // number of answers of all endpoints, and of the times one regained quorum
    struct Direct {
        HostAddress address;
        std::shared_ptr<Endpoint> endpoint;
    };
    std::map<std::string, Direct> directs_;  // by host
    std::size_t current_ = 0;                // the endpoint that answered last
    base::Gate reads_, changes_, log_ins_, proofs_;
    BackendCluster cluster_;
    struct Misled {
        OtherClusterError error;
        base::TimePoint at;
    };
    std::optional<Misled> misled_;  // the last answer that came from another cluster
    std::optional<Ticket> ticket_;
    std::optional<base::TimePoint> refused_until_;
    std::string refusal_;
    std::optional<base::TimePoint> quorum_missed_at_;
    bool is_quorum_hidden_ = false;
    // Hosts that no endpoint could reach at the last attempt, by reading calls and by changing calls.
    std::set<std::string> unreached_hosts_, unreached_by_changes_;
    base::Family<base::Counter>& requests_;
    base::Family<base::Histogram>& durations_;
};

}  // namespace providers::proxmox
