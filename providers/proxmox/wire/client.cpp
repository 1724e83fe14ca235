#include "providers/proxmox/wire/client.hpp"

#include <algorithm>

#include "base/url.hpp"
#include "providers/foreign/bounded_json.hpp"
#include "providers/proxmox/wire/answer.hpp"
#include "providers/proxmox/wire/cluster_identity.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

// Each host serves its API with three synchronous workers.
constexpr std::size_t kReadsPerHost = 6;
constexpr std::size_t kChangesPerHost = 3;
// pveproxy closes idle connections after 5 s.
constexpr base::Duration kIdleTimeout = std::chrono::seconds{4};
// Tickets are valid for 2 h.
constexpr base::Duration kTicketLife = std::chrono::minutes{90};
// A refused login blocks a worker of the server for 3 s. No request is sent during this pause.
constexpr base::Duration kRefusalPause = std::chrono::seconds{10};
// Timeout of a direct connection to a host. Its network may be unreachable; then the endpoint is used
// instead.
constexpr base::Duration kDirectConnectTimeout = std::chrono::seconds{2};
constexpr base::Duration kQuorumNews = std::chrono::minutes{2};
// An endpoint without quorum is used last for this long, unless it regains quorum.
constexpr base::Duration kCutOff = std::chrono::minutes{10};
constexpr std::string_view kLogIn = "log_in";

// Reports whether the endpoint never shows this to the account: a substitute or a proxy does not know it, or
// a right is missing.
bool is_closed_to_us(ErrorKind kind) {
    return kind == ErrorKind::unsupported || kind == ErrorKind::permission;
}

base::HttpClientOptions options_for(const std::string& url, const base::TlsClientOptions& tls) {
    base::HttpClientOptions http;
    http.url = url;
    http.tls = tls;
    http.idle_timeout = kIdleTimeout;
    http.max_response_bytes = foreign::kLongestAnswer;
    return http;
}

}  // namespace

ProxmoxClient::ProxmoxClient(ProxmoxClientOptions options, ProviderEnvironment& environment)
    : credentials_(std::move(options.credentials)),
      provider_(std::move(options.provider)),
      provider_uid_(std::move(options.provider_uid)),
      environment_(environment),
      tls_(std::move(options.tls)),
      reads_(environment.executor, kReadsPerHost),
      changes_(environment.executor, kChangesPerHost),
      log_ins_(environment.executor, 1),
      proofs_(environment.executor, 1),
      cluster_(std::move(options.cluster)),
      requests_(
          environment.metrics.counter("kubenodesmith_proxmox_requests_total",
                                      "Requests to Proxmox by operation and HTTP status (error: no answer).",
                                      {"namespace", "provider", "operation", "code"})),
      durations_(environment.metrics.histogram(
          "kubenodesmith_proxmox_request_duration_seconds", "Time that Proxmox took to answer, by operation.",
          {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30}, {"namespace", "provider", "operation"})) {
    for (const auto& url : options.endpoints) {
        auto& endpoint = endpoints_.emplace_back();
        endpoint.url = url;
        endpoint.transport = environment.connect(options_for(url, tls_));
    }
}

std::vector<std::string> ProxmoxClient::endpoints() const {
    std::vector<std::string> urls;
    std::ranges::transform(endpoints_, std::back_inserter(urls), &Endpoint::url);
    return urls;
}

const std::string& ProxmoxClient::user() const {
    return credentials_.is_token() ? credentials_.token_id : credentials_.username;
}

bool ProxmoxClient::is_cut_off(const Endpoint& endpoint) const {
    return endpoint.cut_off_at && environment_.clock.now() - *endpoint.cut_off_at < kCutOff;
}

std::vector<std::size_t> ProxmoxClient::order() const {
    std::vector<std::size_t> indices;
    for (const bool cut_off : {false, true}) {
        for (std::size_t i = 0; i < endpoints_.size(); ++i) {
            const auto index = (current_ + i) % endpoints_.size();
            if (is_cut_off(endpoints_[index]) == cut_off) indices.push_back(index);
        }
    }
    return indices;
}

// Tries one endpoint after another. An endpoint without quorum cannot reach the other hosts, but another
// endpoint may.
asio::awaitable<json::value> ProxmoxClient::read(Call call) {
    const auto pass = co_await reads_.enter(call.host);
    std::exception_ptr failure, misled;
    bool is_unreached = false;
    for (const auto index : order()) {
        try {
            auto data = co_await attempt(call, endpoints_[index]);
            current_ = index;
            unreached_hosts_.erase(call.host);
            co_return data;
        } catch (const ProxmoxError& error) {
            const bool is_proxied = error.kind == ErrorKind::outcome_unknown && !call.host.empty();
            const bool next_may_know =
                error.kind == ErrorKind::unreachable || error.kind == ErrorKind::no_quorum ||
                (error.kind == ErrorKind::outcome_unknown && !unreached_hosts_.contains(call.host));
            if (!next_may_know) throw;
            is_unreached = is_unreached || is_proxied;
            // An unreachable host is more informative than an unreachable endpoint.
            if (!failure || is_proxied) failure = std::current_exception();
        } catch (const OtherClusterError&) {
            if (!misled) misled = std::current_exception();
        }
    }
    if (is_unreached) unreached_hosts_.insert(call.host);
    // If an endpoint of the cluster has answered, an endpoint of another cluster does not explain the
    // failure.
    std::rethrow_exception(misled && !is_unreached ? misled : failure);
}

// Sends the change. A change that was refused without quorum or not delivered had no effect, so the next
// endpoint may get it. A change that may have happened is read back through another endpoint.
asio::awaitable<json::value> ProxmoxClient::change(Call call) {
    const auto pass = co_await changes_.enter(call.host);
    std::exception_ptr failure, misled;
    const auto indices = order();
    bool is_unreached = false;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const auto index = indices[i];
        // Endpoints without quorum would answer the same.
        if (failure && is_cut_off(endpoints_[index])) break;
        require_permission(call);
        try {
            auto data = co_await attempt(call, endpoints_[index]);
            current_ = index;
            unreached_by_changes_.erase(call.host);
            co_return data;
        } catch (const ProxmoxError& error) {
            const bool may_be_reached = error.is_undelivered && !unreached_by_changes_.contains(call.host);
            const bool was_not_done =
                error.kind == ErrorKind::unreachable || error.kind == ErrorKind::no_quorum || may_be_reached;
            if (!was_not_done && error.kind == ErrorKind::outcome_unknown)
                current_ = indices[(i + 1) % indices.size()];
            if (!was_not_done) throw;
            is_unreached = is_unreached || error.is_undelivered;
            if (!failure || error.is_undelivered) failure = std::current_exception();
        } catch (const OtherClusterError&) {
            if (!misled) misled = std::current_exception();
        }
    }
    if (is_unreached) unreached_by_changes_.insert(call.host);
    // If an endpoint of the cluster has answered, an endpoint of another cluster does not explain the
    // failure.
    std::rethrow_exception(misled && !is_unreached ? misled : failure);
}

// Returns a shared pointer, as the host's certificate may be renewed while a call uses the endpoint.
std::shared_ptr<ProxmoxClient::Endpoint> ProxmoxClient::direct_to(const HostAddress& address) {
    auto& known = directs_[address.host];
    const bool is_same = known.endpoint && known.address.url == address.url &&
                         known.address.fingerprint_sha256 == address.fingerprint_sha256;
    if (is_same) return known.endpoint;
    auto tls = tls_;
    if (!address.fingerprint_sha256.empty()) {
        tls = base::TlsClientOptions();
        tls.fingerprint_sha256 = address.fingerprint_sha256;
    }
    auto http = options_for(address.url, tls);
    http.connect_timeout = kDirectConnectTimeout;
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->url = address.url;
    endpoint->transport = environment_.connect(std::move(http));
    endpoint->is_pinned = true;
    known = {address, std::move(endpoint)};
    return known.endpoint;
}

asio::awaitable<json::value> ProxmoxClient::change_at(HostAddress address, Call call) {
    const auto pass = co_await changes_.enter(call.host);
    require_permission(call);
    const auto configured = std::ranges::find(endpoints_, address.url, &Endpoint::url);
    if (configured != endpoints_.end()) co_return co_await attempt(call, *configured);
    const auto direct = direct_to(address);
    co_return co_await attempt(call, *direct);
}

asio::awaitable<json::value> ProxmoxClient::attempt(const Call& call, Endpoint& endpoint) {
    require_credentials(call);
    if (!endpoint.is_pinned) co_await prove_for(call, endpoint);
    auto response = co_await authorized_exchange(call, endpoint);
    mask(response);
    if (response.status == 401) refuse_credentials(call, refusal_of(response));
    endpoint.last_answer = ++answers_;
    try {
        auto data = data_of(call, response);
        note_quorum(call, endpoint, std::nullopt);
        co_return data;
    } catch (const ProxmoxError& error) {
        note_quorum(call, endpoint, error.kind);
        throw;
    }
}

void ProxmoxClient::require_credentials(const Call& call) const {
    if (refused_until_ && environment_.clock.now() < *refused_until_)
        throw ProxmoxError(ErrorKind::unauthenticated, call.tried, refusal_);
}

// Records what the answer says about quorum. Agent calls and stopping tasks change no cluster data, so they
// need no quorum.
void ProxmoxClient::note_quorum(const Call& call, Endpoint& endpoint, std::optional<ErrorKind> failure) {
    const bool needs_quorum = call.method != "GET" && call.data == DataKind::task;
    const auto now = environment_.clock.now();
    if (failure == ErrorKind::no_quorum) quorum_missed_at_ = endpoint.cut_off_at = now;
    if (failure || (!needs_quorum && call.operation != "configure_vm")) return;
    quorum_missed_at_.reset();
    note_majority(endpoint);
}

// Casts doubt on all answers until now if the endpoint was without quorum. One that is under way may still
// come from that time.
void ProxmoxClient::note_majority(Endpoint& endpoint) {
    if (endpoint.cut_off_at) endpoint.doubtful_until = ++answers_;
    endpoint.cut_off_at.reset();
}

bool ProxmoxClient::lacks_quorum() const {
    return quorum_missed_at_ && environment_.clock.now() - *quorum_missed_at_ < kQuorumNews;
}

asio::awaitable<base::HttpResponse> ProxmoxClient::authorized_exchange(const Call& call, Endpoint& endpoint) {
    if (credentials_.is_token()) co_return co_await exchange(call, endpoint);
    co_await log_in(endpoint);
    auto response = co_await exchange(call, endpoint);
    if (response.status != 401) co_return response;
    // The server dropped the ticket (its keys rotate). A request refused with 401 had no effect.
    ticket_.reset();
    co_await log_in(endpoint);
    co_return co_await exchange(call, endpoint);
}

asio::awaitable<base::HttpResponse> ProxmoxClient::exchange(const Call& call, Endpoint& endpoint) {
    if (call.not_after && environment_.clock.now() > *call.not_after)
        throw ProxmoxError(
            ErrorKind::transient, call.tried,
            "not requested, because the last look at the VM was too old when the request could be "
            "sent: the VM is looked at again");
    auto request = to_request(call);
    authorize(request);
    if (call.method != "GET") request.before_writing = [this, &call] { require_permission(call); };
    co_return co_await transmit(call, endpoint, std::move(request));
}

asio::awaitable<base::HttpResponse> ProxmoxClient::transmit(const Call& call, Endpoint& endpoint,
                                                            base::HttpRequest request) {
    const auto started = environment_.clock.now();
    const auto count = [&](const std::string& code) {
        const std::chrono::duration<double> seconds = environment_.clock.now() - started;
        requests_.with({provider_.namespace_, provider_.name, call.operation, code}).add();
        durations_.with({provider_.namespace_, provider_.name, call.operation}).observe(seconds.count());
    };
    try {
        auto response = co_await endpoint.transport->send(std::move(request));
        count(std::to_string(response.status));
        co_return response;
    } catch (const base::TransportError& error) {
        count("error");
        const bool is_harmless =
            call.method == "GET" || call.operation == kLogIn || !error.request_may_have_been_sent;
        ProxmoxError failure(is_harmless ? ErrorKind::unreachable : ErrorKind::outcome_unknown, call.tried,
                             error.what());
        failure.operation = call.operation;
        failure.is_of_change = !is_harmless;
        throw failure;
    }
}

asio::awaitable<void> ProxmoxClient::log_in(Endpoint& endpoint) {
    const auto pass = co_await log_ins_.enter("");
    if (ticket_ && environment_.clock.now() < ticket_->renew_at) co_return;
    const auto call = proxmox::log_in(credentials_.username, credentials_.password);
    auto response = co_await transmit(call, endpoint, to_request(call));
    mask(response);
    if (response.status == 401) refuse_credentials(call, refusal_of(response));
    const auto data = data_of(call, response);
    const auto fields = data.is_object() ? data.get_object() : json::object();
    if (text_of(fields, "ticket").empty() || fields.contains("NeedTFA")) {
        throw ProxmoxError(
            ErrorKind::unauthenticated, call.tried,
            "the user needs a second factor; use an API token (PROXMOX_TOKEN_ID, PROXMOX_SECRET)");
    }
    Ticket ticket;
    ticket.cookie = "PVEAuthCookie=" + base::percent_encode(text_of(fields, "ticket"));
    ticket.csrf_token = text_of(fields, "CSRFPreventionToken");
    ticket.renew_at = environment_.clock.now() + kTicketLife;
    ticket_ = std::move(ticket);
}

void ProxmoxClient::authorize(base::HttpRequest& request) const {
    if (credentials_.is_token()) {
        request.headers.set("Authorization",
                            "PVEAPIToken=" + credentials_.token_id + "=" + credentials_.token_secret);
        return;
    }
    request.headers.set("Cookie", ticket_->cookie);
    if (request.method != "GET") request.headers.set("CSRFPreventionToken", ticket_->csrf_token);
}

void ProxmoxClient::mask(base::HttpResponse& response) const {
    hide_secret(response, credentials_.token_secret);
    hide_secret(response, credentials_.password);
}

std::string ProxmoxClient::without_credentials(std::string text) const {
    return without_secret(without_secret(std::move(text), credentials_.token_secret), credentials_.password);
}

void ProxmoxClient::require_permission(const Call& call) const {
    if (environment_.may_mutate && !environment_.may_mutate())
        throw FencedError(call.tried + ": not started, this process may no longer be the leader");
    if (call.destroys) require_sole_operator(call.tried);
}

RemovalHold ProxmoxClient::why_not_destroy() const {
    return environment_.why_not_destroy ? environment_.why_not_destroy(provider_uid_) : RemovalHold();
}

void ProxmoxClient::require_sole_operator(const std::string& tried) const {
    auto hold = why_not_destroy();
    const auto kind = hold.needs_person ? ErrorKind::held : ErrorKind::unsettled;
    if (!hold.why.empty()) throw ProxmoxError(kind, tried, std::move(hold.why));
}

void ProxmoxClient::refuse_credentials(const Call& call, const std::string& answer) {
    refused_until_ = environment_.clock.now() + kRefusalPause;
    if (environment_.on_credentials_refused) environment_.on_credentials_refused(provider_.str());
    refusal_ =
        credentials_.is_token()
            ? "the API token " + credentials_.token_id + " was refused (" + answer +
                  "); check PROXMOX_TOKEN_ID and PROXMOX_SECRET in the credentials Secret, and that the "
                  "token "
                  "has not expired"
            : "the login of " + credentials_.username + " was refused (" + answer +
                  "); check PROXMOX_USERNAME (user@realm) and PROXMOX_PASSWORD in the credentials Secret";
    throw ProxmoxError(ErrorKind::unauthenticated, call.tried, refusal_);
}

// ---- the proof to which cluster an endpoint belongs; it precedes each use of its answers
namespace {

// Idle connections live shorter than this. So a proof soon follows each new look-up of the endpoint's name.
constexpr base::Duration kProofAge = std::chrono::seconds{5};
// Longer than a call with all its requests takes.
constexpr base::Duration kMisledFor = std::chrono::minutes{1};

}  // namespace

asio::awaitable<void> ProxmoxClient::prove_for(const Call& call, Endpoint& endpoint) {
    const auto max_age = call.method == "GET" ? kProofAge : base::Duration::zero();
    co_await prove(endpoint, max_age);
}

asio::awaitable<void> ProxmoxClient::prove(Endpoint& endpoint, base::Duration max_age) {
    const auto begun = environment_.clock.now();
    if (endpoint.proven_at && begun - *endpoint.proven_at < max_age) co_return;
    const auto pass = co_await proofs_.enter(endpoint.url);
    // Another call may have got the proof while this one waited for its turn.
    if (endpoint.proven_at && *endpoint.proven_at > begun) co_return;
    co_await ask_for_proof(endpoint);
}

asio::awaitable<void> ProxmoxClient::ask_for_proof(Endpoint& endpoint) {
    const auto asked_at = environment_.clock.now();
    const bool has_unproven_answers = endpoint.last_answer > endpoint.proven_until;
    // If this fails, the caller concludes nothing. Later answers need a new proof.
    endpoint.proven_until = endpoint.last_answer;
    endpoint.proven_at.reset();
    const auto id = co_await identity_at(endpoint);
    if (cluster_.id.empty()) cluster_.id = id;
    if (id.empty() && !cluster_.id.empty())
        throw ProxmoxError(ErrorKind::other, "asking " + endpoint.url + " which cluster it belongs to",
                           "the answer does not name the cluster's pve-root-ca.pem");
    if (id != cluster_.id) {
        const auto name = co_await name_at(endpoint);
        const BackendCluster stranger{name, id};
        const OtherClusterError error(endpoint.url + " belongs to " + describe(stranger) +
                                          ", but the machines of provider " + provider_.str() + " are on " +
                                          describe(cluster_),
                                      stranger);
        if (has_unproven_answers) misled_ = Misled{error, environment_.clock.now()};
        throw error;
    }
    endpoint.proven_at = asked_at;
}

asio::awaitable<json::value> ProxmoxClient::ask(const Call& call, Endpoint& endpoint) {
    require_credentials(call);
    auto response = co_await authorized_exchange(call, endpoint);
    mask(response);
    if (response.status == 401) refuse_credentials(call, refusal_of(response));
    co_return data_of(call, response);
}

// Returns the fingerprint of the cluster's CA. Every Proxmox VE since 5.2 shows it to any logged-in user. A
// substitute or a proxy may not; then only the name distinguishes clusters.
asio::awaitable<std::string> ProxmoxClient::identity_at(Endpoint& endpoint) {
    try {
        const auto certificates = co_await ask(get_own_certificates(), endpoint);
        co_return authority_fingerprint(certificates);
    } catch (const ProxmoxError& error) {
        if (!is_closed_to_us(error.kind)) throw;
    }
    const auto name = co_await name_at(endpoint);
    co_return name.empty() ? std::string() : "name " + name;
}

asio::awaitable<std::string> ProxmoxClient::name_at(Endpoint& endpoint) {
    try {
        const auto status = co_await ask(get_cluster_status(), endpoint);
        co_return cluster_name(status);
    } catch (const ProxmoxError& error) {
        if (!is_closed_to_us(error.kind)) throw;
    }
    co_return std::string();
}

// Throws for a while after another cluster has answered. Running calls may hold its answers until they end.
asio::awaitable<void> ProxmoxClient::confirm_cluster() {
    if (misled_ && environment_.clock.now() - misled_->at < kMisledFor) throw misled_->error;
    for (auto& endpoint : endpoints_)
        if (endpoint.last_answer > endpoint.proven_until) co_await prove(endpoint, base::Duration::zero());
}

// Reports whether the endpoint has quorum. A standalone host always has.
asio::awaitable<bool> ProxmoxClient::has_quorum(Endpoint& endpoint) {
    const auto last_answer = endpoint.last_answer;
    try {
        const auto status = co_await ask(get_cluster_status(), endpoint);
        is_quorum_hidden_ = false;
        for (const auto* entry : objects_of(status)) {
            const bool is_cut_off = text_of(*entry, "type") == "cluster" && !flag_of(*entry, "quorate");
            if (!is_cut_off) continue;
            endpoint.cut_off_at = environment_.clock.now();
            co_return false;
        }
    } catch (const ProxmoxError& error) {
        if (!is_closed_to_us(error.kind)) throw;
        is_quorum_hidden_ = true;
        co_return !is_cut_off(endpoint);
    }
    note_majority(endpoint);
    endpoint.quorate_until = last_answer;
    co_return true;
}

// Asks every endpoint whose last answer lacks a proof of quorum. An endpoint that regained quorum cannot
// prove where its earlier answers came from, and one that no longer answers proves nothing.
asio::awaitable<void> ProxmoxClient::confirm_quorum(std::uint64_t since) {
    const auto refuse = [](const Endpoint& endpoint, const std::string& why) {
        throw ProxmoxError(ErrorKind::no_quorum, "asking " + endpoint.url + " whether it has quorum",
                           why + ", so its answers may be incomplete and are not used");
    };
    for (auto& endpoint : endpoints_) {
        if (endpoint.last_answer <= since) continue;
        if (endpoint.last_answer > endpoint.quorate_until) {
            const bool is_quorate = co_await has_quorum(endpoint);
            if (!is_quorate) refuse(endpoint, "it has none");
        }
        if (since < endpoint.doubtful_until) refuse(endpoint, "it had none a short while ago");
    }
}

asio::awaitable<bool> ProxmoxClient::seek_quorum() {
    std::exception_ptr failure;
    bool is_any_cut_off = false;
    const auto count = endpoints_.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto index = (current_ + i) % count;
        try {
            co_await prove(endpoints_[index], kProofAge);
            const bool is_quorate = co_await has_quorum(endpoints_[index]);
            if (is_quorate) {
                current_ = index;
                co_return true;
            }
            is_any_cut_off = true;
        } catch (const OtherClusterError&) {
            // The endpoint is skipped, as in every call.
        } catch (const ProxmoxError&) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure && !is_any_cut_off) std::rethrow_exception(failure);
    co_return false;
}

asio::awaitable<std::vector<std::string>> ProxmoxClient::misled_endpoints() {
    std::vector<std::string> misled;
    for (auto& endpoint : endpoints_) {
        try {
            co_await prove(endpoint, kProofAge);
        } catch (const OtherClusterError& error) {
            misled.push_back(endpoint.url + " belongs to " + describe(error.cluster) + " and is not used");
        } catch (const ProxmoxError&) {
            // An endpoint that does not answer misleads nobody.
        }
    }
    co_return misled;
}

}  // namespace providers::proxmox
