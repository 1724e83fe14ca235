#include "controllers/certificate_approver.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "bootstrap/settings.hpp"
#include "bootstrap/signing_request.hpp"
#include "bootstrap/token.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/decide/observation.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/node_search.hpp"
#include "controllers/services/api_server_hosts.hpp"
#include "controllers/services/claim_refusals.hpp"

namespace controllers {

using api::v1alpha1::BootstrapApproval;
using bootstrap::Approval;
using bootstrap::Verdict;

namespace {

constexpr const char* kByToken = "token";  // ID of our bootstrap token that asks
constexpr const char* kByNode = "node";    // name of the Node that asks

bool is_out_of_service(const NodeSmithClaim& claim) {
    return claim::is_leaving(claim) || claim::is_true(claim, conditions::kFailed);
}

std::vector<std::string> only(std::optional<std::string> value) {
    return value ? std::vector{*std::move(value)} : std::vector<std::string>();
}

bool is_serving(const api::CertificateSigningRequest& request) {
    return request.spec.signerName == bootstrap::kServingSigner;
}

// Reports whether the request has a name as kubelets choose it: csr-x7k2p, or node-csr- and the URL-safe
// Base64 of a hash (k8s.io/client-go/util/certificate/csr). The API server lets it be almost any text of any
// length, and messages that people act on repeat it.
bool has_plain_name(const api::CertificateSigningRequest& request) {
    constexpr std::size_t kLongestName = 253;
    const auto& name = request.metadata.name;
    return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_' || c == '.';
    });
}

constexpr base::Duration kPauseOfLists = std::chrono::seconds{5};
// Sets how soon a refused decision is written again, so that a machine joins soon after the mend.
constexpr base::Duration kPauseOfRefusal = std::chrono::seconds{20};

// Sets how soon a request is judged again whose address another Node shows.
constexpr base::Duration kPauseOfShown = std::chrono::minutes{1};

constexpr std::string_view kShownByOther = "AddressOfOtherNode";

// Names the addresses that the operator gave to the machine and that other Nodes show, if the request waits.
Approval explained(Approval approval, const std::set<std::string>& shown) {
    if (approval.reason != bootstrap::kUnknownAddress || shown.empty()) return approval;
    approval.reason = kShownByOther;
    approval.message +=
        ". Another Node shows an address that the pool has given to this machine: " + *shown.begin() +
        ". Take it out of network.addresses of the pool";
    return approval;
}

constexpr std::string_view kClusterUnknown = "ClusterAddressesUnknown";

Approval wait_for_cluster(const std::string& failure) {
    return {Verdict::Wait,
            std::string(kClusterUnknown),
            "an address is approved only while it is known where the cluster listens: " + failure,
            {}};
}

}  // namespace

bootstrap::Joiner joiner_of(const NodeSmithClaim& claim) {
    bootstrap::Joiner joiner;
    joiner.node_name = claim.metadata.name;
    joiner.token_id = bootstrap::token_id(claim.metadata.uid, claim.status.launchAttempts);
    joiner.key_sha256 = claim.status.bootstrapKeySHA256;
    // The stage is Joining once the provider has shown the machine, even if Launched is still Unknown. A
    // script that the guest agent runs joins before the launch has ended.
    const auto* launched = api::find_condition(claim.status.conditions, conditions::kLaunched);
    if (is_out_of_service(claim) || claim::is_true(claim, conditions::kRegistered))
        joiner.stage = bootstrap::Stage::Over;
    else if (launched && launched->status != ConditionStatus::False)
        joiner.stage = bootstrap::Stage::Joining;
    return joiner;
}

CertificateApprover::CertificateApprover(Parts parts, asio::any_io_executor executor)
    : parts_(parts),
      lists_(executor, 1),
      requests_(parts.client, parts.clock, parts.random, executor, {},
                [](Request& request) { forget_unread(request); }),
      cluster_(parts.informers, parts.client, parts.clock, executor),
      judged_(parts.metrics.counter(
          "kubenodesmith_certificate_requests_total",
          "Certificate requests of machines that the operator decided, by signer and verdict.",
          {"signer", "verdict"})) {
    requests_.on_restore([this] { parts_.informers.list_anew(); });
    parts_.informers.on_list_anew = [this] { requests_.list_anew(); };
    requests_.admit_only([](const Request& request) {
        const auto& signer = request.spec.signerName;
        if (signer != bootstrap::kClientSigner && signer != bootstrap::kServingSigner) return false;
        if (!has_plain_name(request)) return false;
        return bootstrap::token_of_requester(request) ||
               (is_serving(request) && bootstrap::node_of_requester(request));
    });
    auto& store = requests_.store();
    store.add_index(kByToken,
                    [](const Request& request) { return only(bootstrap::token_of_requester(request)); });
    store.add_index(kByNode,
                    [](const Request& request) { return only(bootstrap::node_of_requester(request)); });
}

void CertificateApprover::subscribe(kube::WorkQueue& queue) {
    lanes_.use(queue);
    cluster_.on_answer([&queue](const kube::ObjectKey& request) { queue.add(request); });
    const auto is_open = [](const Request& request) { return !bootstrap::decided(request); };
    kube::watch(requests_).present().when(is_open).call(
        [this](const Request& request) { arrived_.try_emplace(request.metadata.uid, parts_.clock.now()); });
    kube::watch(requests_).present().when(is_open).enqueue(queue);
    const auto settle = [this](const Request& request) { forget(request); };
    kube::watch(requests_).when(bootstrap::decided).call(settle);
    kube::watch(requests_).gone().call(settle);
    kube::watch(parts_.informers.claims).present().enqueue(queue, [this](const NodeSmithClaim& claim) {
        return open_requests_of(claim);
    });
    // The administrator of the control plane may have named a network.
    kube::watch(parts_.informers.control_planes)
        .changed(kube::kGeneration)
        .enqueue(queue, [this, is_open](const NodeSmithControlPlane&) {
            return kube::keys_of(requests_.store(), is_open);
        });
}

kube::Keys CertificateApprover::open_requests_of(const NodeSmithClaim& claim) const {
    kube::Keys keys;
    const auto& store = requests_.store();
    if (store.size() == 0) return keys;
    const auto token = bootstrap::token_id(claim.metadata.uid, claim.status.launchAttempts);
    for (const auto& request : store.by_index(kByToken, token))
        if (!bootstrap::decided(*request)) keys.push_back(api::key_of(*request));
    for (const auto& request : newest_of(claim.status.nodeName)) keys.push_back(api::key_of(*request));
    return keys;
}

// Returns the open requests of a Node that are judged. A kubelet waits for its newest one, so a Node with
// many has them made by somebody who wants to keep the operator busy.
std::vector<CertificateApprover::RequestPointer> CertificateApprover::newest_of(
    const std::string& node) const {
    constexpr std::size_t kMost = 8;
    auto open = requests_.store().by_index(kByNode, node);
    std::erase_if(open, [](const auto& request) { return bootstrap::decided(*request); });
    std::ranges::sort(open, std::ranges::greater(), [](const auto& request) {
        return std::tuple(request->metadata.creationTimestamp, request->metadata.name);
    });
    if (open.size() > kMost) open.resize(kMost);
    return open;
}

bool CertificateApprover::is_crowded_out(const Request& request) const {
    const auto node = bootstrap::node_of_requester(request);
    return node && is_serving(request) &&
           std::ranges::none_of(newest_of(*node), [&request](const auto& judged) {
               return judged->metadata.uid == request.metadata.uid;
           });
}

ClaimPointer CertificateApprover::claim_of(const Request& request) const {
    const auto& claims = parts_.informers.claims.store();
    if (const auto token = bootstrap::token_of_requester(request)) {
        const auto found = claims.by_index(kClaimsByToken, *token);
        return found.empty() ? nullptr : found.front();
    }
    const auto node = bootstrap::node_of_requester(request);
    if (!node || !is_serving(request)) return nullptr;
    for (const auto& claim : claims.by_index(kClaimsByNode, *node))
        if (is_served(*claim) && claim::noted_node(parts_.informers, *claim)) return claim;
    return nullptr;
}

api::v1alpha1::Bootstrap CertificateApprover::settings_of(const NodeSmithClaim& claim) const {
    claim::Observation observation;
    observation.pool = parts_.informers.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    return parts_.boot_data.settings(observation);
}

// Reports whether the claim's machine is a Node whose certificates the operator approves.
bool CertificateApprover::is_served(const NodeSmithClaim& claim) const {
    if (is_out_of_service(claim) || !claim::is_true(claim, conditions::kRegistered)) return false;
    return settings_of(claim).approval == BootstrapApproval::Operator;
}

asio::awaitable<kube::Result> CertificateApprover::reconcile(kube::ObjectKey key) {
    const auto noted = requests_.store().get(key);
    const auto asking = noted ? claim_of(*noted) : nullptr;
    if (!asking || bootstrap::decided(*noted) || is_crowded_out(*noted)) co_return kube::Result{};
    const kube::ObjectKey lane{asking->metadata.namespace_, ""};
    const auto place = lanes_.enter(lane, key, 1);
    if (!place) co_return kube::Result{};
    const auto request = co_await parts_.client.get<Request>(key);
    if (!request || request->metadata.uid != noted->metadata.uid || bootstrap::decided(*request))
        co_return kube::Result{};
    const auto claim = claim_of(*request);
    if (!claim) co_return kube::Result{};
    if (!is_serving(*request)) co_await look_for_namesake(claim);
    auto judged = judge(*request, claim);
    if (!judged || judged->reason == kClusterUnknown) {
        cluster_.ask(key);  // the answer queues this key again
        if (!judged && !cluster_.failure().empty()) judged = wait_for_cluster(cluster_.failure());
        if (judged) tell_left(*request, *claim, *judged);
        co_return kube::Result{};
    }
    cluster_.settle(key);
    if (judged->verdict == Verdict::Approve && !names_only_given(*request, *claim)) {
        const auto arrived = arrived_.find(request->metadata.uid);
        const auto since = arrived == arrived_.end() ? parts_.clock.now() : arrived->second;
        const bool is_read = co_await read_nodes_since(since);
        if (is_read) judged = judge(*request, claim);
        if (!is_read || !judged) co_return kube::Result{kPauseOfLists};
    }
    const auto& approval = *judged;
    // Nothing is written for it any longer, so nothing is refused.
    if (approval.verdict == Verdict::Ignore || approval.verdict == Verdict::Wait)
        parts_.machine_reports.note_settled_certificate(*claim, request->metadata.uid,
                                                        api::Time(parts_.clock.wall_now()));
    if (approval.verdict == Verdict::Ignore) co_return kube::Result{};
    kube::Result result;
    if (approval.reason == kShownByOther) result.requeue_after = kPauseOfShown;
    const auto refusal = co_await carry_out(*request, claim, approval);
    if (!refusal.empty()) {
        note_refusal(*request, *claim, approval, refusal);
        co_return kube::Result{kPauseOfRefusal};
    }
    tell(*request, *claim, approval);
    co_return result;
}

asio::awaitable<std::string> CertificateApprover::carry_out(Request request, ClaimPointer claim,
                                                            Approval approval) {
    try {
        if (approval.verdict == Verdict::Approve && !is_serving(request))
            co_await remember_key(claim, approval.key_sha256);
        if (approval.verdict != Verdict::Wait) co_await write(request, approval);
    } catch (const kube::ApiError& error) {
        if (!is_refusal(error) && !is_unanswered(error)) throw;
        co_return std::string(error.what());
    }
    co_return std::string();
}

// Says that a decision could not be written. A refused denial changes nothing for the claim's own machine.
void CertificateApprover::note_refusal(const Request& request, const NodeSmithClaim& claim,
                                       const Approval& approval, const std::string& refusal) {
    const std::string kind(is_serving(request) ? "serving certificate" : MachineReports::kFirstCertificate);
    const std::string decision = approval.verdict == Verdict::Approve ? "approved" : "denied";
    const auto message = "the request for the kubelet's " + kind + " cannot be " + decision +
                         ", and is tried again several times a minute: " + refusal;
    parts_.events.warning(claim, std::string(reasons::kRequestRefused), message);
    if (approval.verdict == Verdict::Approve && !is_serving(request))
        parts_.machine_reports.note_refused_certificate(claim, request.metadata.uid, message);
}

void CertificateApprover::forget(const Request& request) {
    const auto& uid = request.metadata.uid;
    told_.erase(uid);
    arrived_.erase(uid);
    cluster_.settle(api::key_of(request));
    if (const auto claim = claim_of(request))
        parts_.machine_reports.note_settled_certificate(*claim, uid, api::Time(parts_.clock.wall_now()));
}

std::optional<Approval> CertificateApprover::judge(const Request& request, const ClaimPointer& claim) {
    if (bootstrap::token_of_requester(request)) {
        // Servers of such a format admit every token and decide themselves.
        if (bootstrap::trusts_every_token(settings_of(*claim).format)) return Approval{};
        auto joiner = joiner_of(*claim);
        const auto now = api::Time(parts_.clock.wall_now());
        joiner.name_taken = claim::observe(parts_.informers, claim, now).name_taken;
        return bootstrap::judge_client(request, &joiner);
    }
    const auto& node = claim->status.nodeName;
    if (is_name_of_api_server(parts_.informers, *claim, node))
        return Approval{Verdict::Wait,
                        "NameOfApiServer",
                        "clients look for the API server under this Node's name, so its certificate would "
                        "make them trust the machine: create the machine anew under another name",
                        {}};
    bootstrap::CertificateSubject machine{node, given_addresses(parts_.informers, *claim)};
    const auto shown = shown_by_others(parts_.informers, *claim, machine.addresses);
    std::erase_if(machine.addresses, [&](const auto& address) { return shown.contains(address); });
    auto approval = bootstrap::judge_serving(request, &machine);
    const auto networks = serving_networks(parts_.informers, *claim);
    const bool is_approved = approval.verdict == Verdict::Approve;
    if (!is_approved && (approval.reason != bootstrap::kUnknownAddress || networks.empty()))
        return explained(std::move(approval), shown);
    const auto asked = bootstrap::parse_signing_request(request.spec.request.value).ip_addresses;
    if (asked.empty()) return approval;
    const auto* cluster = cluster_.found();
    if (!cluster) return std::nullopt;
    const auto& namespace_ = claim->metadata.namespace_;
    std::erase_if(machine.addresses,
                  [&](const auto& address) { return is_of_cluster(address, namespace_, *cluster); });
    approval = bootstrap::judge_serving(request, &machine);
    if (approval.verdict == Verdict::Approve || networks.empty())
        return explained(std::move(approval), shown);
    const auto unknown = cluster->unknown.find(namespace_);
    if (unknown != cluster->unknown.end()) return wait_for_cluster(unknown->second);
    const auto free = free_addresses(parts_.informers, *claim, asked, networks, *cluster);
    machine.addresses.insert(machine.addresses.end(), free.begin(), free.end());
    return explained(bootstrap::judge_serving(request, &machine), shown);
}

bool CertificateApprover::names_only_given(const Request& request, const NodeSmithClaim& claim) const {
    if (!is_serving(request)) return true;
    const bootstrap::CertificateSubject machine{claim.status.nodeName,
                                                given_addresses(parts_.informers, claim)};
    return bootstrap::judge_serving(request, &machine).verdict == Verdict::Approve;
}

// After an outage of the API server, a request may be known before the Node that has the address. Requests
// that arrive together share a list, and a kubelet that asks again and again causes few.
asio::awaitable<bool> CertificateApprover::read_nodes_since(base::TimePoint since) {
    const auto turn = co_await lists_.enter("");
    const auto begun = parts_.clock.now();
    if (nodes_read_ && *nodes_read_ >= since) co_return true;
    if (nodes_read_ && begun < *nodes_read_ + kPauseOfLists) co_return false;
    std::vector<std::string> everywhere{""};
    co_await parts_.informers.nodes.observe_list(parts_.client, std::move(everywhere));
    nodes_read_ = begun;
    co_return true;
}

// Reads the Node live: the cache may lack it, and this certificate would make its holder that Node.
asio::awaitable<void> CertificateApprover::look_for_namesake(ClaimPointer claim) {
    const kube::ObjectKey key{"", claim->metadata.name};
    auto node = co_await parts_.client.get<api::Node>(key);
    if (node) parts_.informers.nodes.observe(*std::move(node));
}

asio::awaitable<void> CertificateApprover::remember_key(ClaimPointer claim, std::string key_sha256) {
    auto after = *claim;
    after.status.bootstrapKeySHA256 = std::move(key_sha256);
    co_await write_status(parts_.client, parts_.informers.claims, *claim, std::move(after));
}

asio::awaitable<void> CertificateApprover::write(Request request, Approval approval) {
    auto after = request;
    const bool approved = approval.verdict == Verdict::Approve;
    after.status.conditions.push_back(
        {approved ? "Approved" : "Denied", "True", approval.reason, approval.message});
    auto patch = kube::difference(request, after, kube::Lock::resource_version);
    if (!patch) co_return;
    const auto target = kube::path_of(Request::kResource, api::key_of(request), "approval");
    const auto before = requests_.before_write(api::key_of(request));
    const auto answer = co_await parts_.client.patch_json(target, *std::move(patch));
    auto written = kube::decode_answer<Request>(answer, "PATCH " + target);
    requests_.check_answer(written, before);
    requests_.observe(std::move(written));
}

void CertificateApprover::tell(const Request& request, const NodeSmithClaim& claim,
                               const Approval& approval) {
    if (approval.verdict == Verdict::Wait) return tell_left(request, claim, approval);
    const bool approved = approval.verdict == Verdict::Approve;
    const std::string kind = is_serving(request) ? "serving" : "client";
    judged_.with({kind, approved ? "approved" : "denied"}).add();
    // The request's name is left out: its author chose it, and each name would create another Event.
    if (approved)
        parts_.events.normal(claim, "CertificateApproved",
                             "the kubelet gets its " + kind + " certificate: " + approval.message);
    else
        parts_.events.warning(claim, "CertificateDenied",
                              "a certificate request made with this claim's token is denied (" +
                                  approval.reason + "): " + approval.message);
}

void CertificateApprover::tell_left(const Request& request, const NodeSmithClaim& claim,
                                    const Approval& approval) {
    // A request of a machine that is about to run needs no Event.
    if (!is_serving(request)) return;
    auto& told = told_[request.metadata.uid];
    if (told == approval.message) return;
    told = approval.message;
    judged_.with({"serving", "left"}).add();
    parts_.events.warning(claim, "CertificateLeft",
                          "the kubelet's request " + request.metadata.name +
                              " for a serving certificate is left for a person to approve (" +
                              approval.reason + "): " + approval.message);
}

}  // namespace controllers
