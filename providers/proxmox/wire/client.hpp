// Carries calls to a Proxmox cluster: authentication, failover between endpoints, limits per host, metrics,
// the fence, and the proof that it is the right cluster. An endpoint may lead to another one from one moment
// to the next, by its name in the DNS or by a load balancer.
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

#include "base/gate.hpp"
#include "providers/environment.hpp"
#include "providers/proxmox/wire/call.hpp"

namespace providers::proxmox {

namespace json = boost::json;

// Either a token or a user with a password.
struct Credentials {
    std::string token_id;  // user@realm!name
    std::string token_secret;
    std::string username;  // user@realm
    std::string password;

    bool is_token() const { return !token_id.empty(); }
};

struct ClientOptions {
    std::string provider;  // namespace/name, for metrics
    std::vector<std::string> endpoints;
    base::TlsClientOptions tls;
    Credentials credentials;
    BackendCluster cluster;  // as it was recorded; without an ID the first one that answers counts
};

// Where one host's own API answers.
struct HostAddress {
    std::string host;
    std::string url;                 // one of the endpoints, or another
    std::string fingerprint_sha256;  // of its certificate; empty: verified as the endpoints are
};

class Client {
public:
    // Throws std::invalid_argument. The environment must outlive the client.
    Client(ClientOptions options, ProviderEnvironment& environment);

    // A call that changes nothing: asked of one endpoint after the other until one of the cluster answers.
    // Throws ProxmoxError, OtherClusterError.
    asio::awaitable<json::value> read(Call call);
    // A call that changes something: sent at most once. ProxmoxError of kind outcome_unknown: it may have
    // been done. Throws ProxmoxError, FencedError, and OtherClusterError before anything is sent.
    asio::awaitable<json::value> change(Call call);
    // The same, asked of that host itself. ProxmoxError of kind unreachable: nothing of it was sent, as the
    // host cannot be reached so or shows another certificate.
    asio::awaitable<json::value> change_at(HostAddress address, Call call);

    // Proves that all that was answered so far came from the cluster: whoever draws a conclusion from what is
    // not there calls this between its reads and the conclusion. Throws ProxmoxError, OtherClusterError.
    asio::awaitable<void> confirm_cluster();
    // Proves that what was answered so far came from endpoints that are in the majority of their cluster: one
    // that is cut off knows nothing of what happened since. Whoever concludes that something is gone calls
    // it. Throws ProxmoxError of kind no_quorum. An endpoint that does not let us see it is believed.
    asio::awaitable<void> confirm_quorum();
    // Goes over to an endpoint that has quorum, if there is one and the present one has none. Returns whether
    // the one in use has, as far as it lets us see; else what the last refused change says.
    asio::awaitable<bool> seek_quorum();
    // An endpoint did not let us see whether it has quorum.
    bool is_quorum_hidden() const { return is_quorum_hidden_; }
    // The endpoints that lead to another cluster now, with that cluster; those that do not answer are left
    // out.
    asio::awaitable<std::vector<std::string>> misled_endpoints();
    // The one that this client works with, its name as it was recorded.
    const BackendCluster& cluster() const { return cluster_; }

    // The last change was refused for want of quorum, not long ago.
    bool lacks_quorum() const;

    // URLs, the configured one first; and which of them answered last.
    std::vector<std::string> endpoints() const;
    const std::string& current_endpoint() const { return endpoints_[current_].url; }
    // A host that is none of the endpoints can be verified without its fingerprint: by the CA that is
    // configured.
    bool has_ca() const { return !tls_.ca_bundle_pem.empty() && !tls_.insecure_skip_verify; }
    // user@realm!token or user@realm: as in UPIDs.
    const std::string& user() const;
    // With what proves who we are taken out: what a server writes may hold it.
    std::string without_credentials(std::string text) const;

private:
    struct Endpoint {
        std::string url;
        std::unique_ptr<base::HttpTransport> transport;
        bool is_pinned = false;  // the cluster itself told which certificate it shows
        std::optional<base::TimePoint> proven_at;
        std::optional<base::TimePoint> cut_off_at;  // last seen without quorum
        std::uint64_t answers = 0;
        std::uint64_t quorate_answers = 0;  // of these, the ones before the last proof of quorum
        std::uint64_t proven_answers = 0;   // of these, the ones before the last proof
    };
    struct Ticket {
        std::string cookie;
        std::string csrf_token;
        base::TimePoint renew_at;
    };

    void note_quorum(const Call& call, Endpoint& endpoint, std::optional<ErrorKind> failure);
    // The endpoint in use first, and those that were seen without quorum lately last.
    std::vector<std::size_t> order() const;
    bool is_cut_off(const Endpoint& endpoint) const;
    asio::awaitable<bool> has_quorum(Endpoint& endpoint);
    std::shared_ptr<Endpoint> direct_to(const HostAddress& address);
    asio::awaitable<json::value> attempt(const Call& call, Endpoint& endpoint);
    // A change is proven right before it is sent.
    asio::awaitable<void> prove_for(const Call& call, Endpoint& endpoint);
    // Asks the endpoint which cluster it belongs to, unless that is known and not older than max_age.
    asio::awaitable<void> prove(Endpoint& endpoint, base::Duration max_age);
    asio::awaitable<void> ask_for_proof(Endpoint& endpoint);
    asio::awaitable<json::value> ask(const Call& call, Endpoint& endpoint);
    // Empty: the endpoint does not say.
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
    void require_leadership(const Call& call) const;
    [[noreturn]] void refuse_credentials(const Call& call, const std::string& answer);

    Credentials credentials_;
    std::string provider_;
    ProviderEnvironment& environment_;
    base::TlsClientOptions tls_;
    std::vector<Endpoint> endpoints_;
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
    std::optional<Misled> misled_;  // when answers last turned out to be another cluster's
    std::optional<Ticket> ticket_;
    std::optional<base::TimePoint> refused_until_;
    std::string refusal_;
    std::optional<base::TimePoint> quorum_missed_at_;
    bool is_quorum_hidden_ = false;
    // Hosts that no endpoint could reach when it was last tried, by calls that change nothing and by others.
    std::set<std::string> unreached_hosts_, unreached_by_changes_;
    base::Family<base::Counter>& requests_;
    base::Family<base::Histogram>& durations_;
};

}  // namespace providers::proxmox
