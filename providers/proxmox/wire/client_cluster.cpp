// The part of Client that proves which cluster an endpoint belongs to. The proof precedes each use and each
// conclusion from its answers.
#include "providers/proxmox/wire/answer.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/cluster_identity.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

// Idle connections live shorter than this. So a proof soon follows each new look-up of the endpoint's name.
constexpr base::Duration kProofAge = std::chrono::seconds{5};
// Longer than a call with all its requests takes.
constexpr base::Duration kMisledFor = std::chrono::minutes{1};

}  // namespace

asio::awaitable<void> Client::prove_for(const Call& call, Endpoint& endpoint) {
    const auto max_age = call.method == "GET" ? kProofAge : base::Duration::zero();
    co_await prove(endpoint, max_age);
}

asio::awaitable<void> Client::prove(Endpoint& endpoint, base::Duration max_age) {
    const auto begun = environment_.clock.now();
    if (endpoint.proven_at && begun - *endpoint.proven_at < max_age) co_return;
    const auto pass = co_await proofs_.enter(endpoint.url);
    // Another call may have got the proof while this one waited for its turn.
    if (endpoint.proven_at && *endpoint.proven_at > begun) co_return;
    co_await ask_for_proof(endpoint);
}

asio::awaitable<void> Client::ask_for_proof(Endpoint& endpoint) {
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

asio::awaitable<json::value> Client::ask(const Call& call, Endpoint& endpoint) {
    require_credentials(call);
    auto response = co_await authorized_exchange(call, endpoint);
    mask(response);
    if (response.status == 401) refuse_credentials(call, refusal_of(response));
    co_return data_of(call, response);
}

// Returns the fingerprint of the cluster's CA. Every Proxmox VE since 5.2 shows it to any logged-in user. A
// substitute or a proxy may not; then only the name distinguishes clusters.
asio::awaitable<std::string> Client::identity_at(Endpoint& endpoint) {
    try {
        const auto certificates = co_await ask(get_own_certificates(), endpoint);
        co_return authority_fingerprint(certificates);
    } catch (const ProxmoxError& error) {
        const bool is_refused = error.kind == ErrorKind::unsupported || error.kind == ErrorKind::permission;
        if (!is_refused) throw;
    }
    const auto name = co_await name_at(endpoint);
    co_return name.empty() ? std::string() : "name " + name;
}

asio::awaitable<std::string> Client::name_at(Endpoint& endpoint) {
    try {
        const auto status = co_await ask(get_cluster_status(), endpoint);
        co_return cluster_name(status);
    } catch (const ProxmoxError& error) {
        const bool is_refused = error.kind == ErrorKind::unsupported || error.kind == ErrorKind::permission;
        if (!is_refused) throw;
    }
    co_return std::string();
}

// Throws for a while after another cluster has answered. Running calls may hold its answers until they end.
asio::awaitable<void> Client::confirm_cluster() {
    if (misled_ && environment_.clock.now() - misled_->at < kMisledFor) throw misled_->error;
    for (auto& endpoint : endpoints_)
        if (endpoint.last_answer > endpoint.proven_until) co_await prove(endpoint, base::Duration::zero());
}

// Reports whether the endpoint has quorum. A standalone host always has.
asio::awaitable<bool> Client::has_quorum(Endpoint& endpoint) {
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
        const bool is_refused = error.kind == ErrorKind::unsupported || error.kind == ErrorKind::permission;
        if (!is_refused) throw;
        is_quorum_hidden_ = true;
        co_return !is_cut_off(endpoint);
    }
    note_majority(endpoint);
    endpoint.quorate_until = last_answer;
    co_return true;
}

// Asks every endpoint whose last answer lacks a proof of quorum. An endpoint that regained quorum cannot
// prove where its earlier answers came from, and one that no longer answers proves nothing.
asio::awaitable<void> Client::confirm_quorum(std::uint64_t since) {
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

asio::awaitable<bool> Client::seek_quorum() {
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

asio::awaitable<std::vector<std::string>> Client::misled_endpoints() {
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
