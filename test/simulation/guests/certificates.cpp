#include "test/simulation/guests/certificates.hpp"

#include <algorithm>

#include "api/core.hpp"
#include "api/node.hpp"
#include "bootstrap/approval.hpp"

namespace simulation {
namespace {

using Request = api::CertificateSigningRequest;

const std::string kRequests = "certificatesigningrequests.certificates.k8s.io";
// Time from the approval until the kubelet has its certificate.
constexpr std::chrono::seconds kSigning{1};
// One machine in so many has its token stolen. The thieves use the last of the keys.
constexpr std::uint64_t kOneOf = 4;
constexpr std::size_t kStrangeKey = test::kRequestKeys - 1;
constexpr std::chrono::milliseconds kWhileItJoins{2'000};
constexpr std::chrono::milliseconds kLongestWait{90'000};

std::string name_of(const std::string& system_uuid) {
    return "node-csr-" + system_uuid;
}

// Returns the key of a machine. A kubelet keeps its key on the disk.
std::size_t key_of(const std::string& system_uuid) {
    return static_cast<unsigned char>(system_uuid.back()) % kStrangeKey;
}

bool is_approved(const Request& request) {
    return std::ranges::any_of(request.status.conditions,
                               [](const auto& condition) { return condition.type == "Approved"; });
}

Request request_of(const test::RequestParts& parts, const std::string& name, const std::string& token_id) {
    Request request;
    request.metadata.name = name;
    request.spec.request.value = test::make_request(parts);
    request.spec.signerName = bootstrap::kClientSigner;
    request.spec.usages = {"digital signature", "client auth"};
    request.spec.username = "system:bootstrap:" + token_id;
    request.spec.groups = {"system:bootstrappers", std::string(bootstrap::kTokenGroup),
                           "system:authenticated"};
    return request;
}

}  // namespace

Certificates::Certificates(fake::ApiServer& server, Trace& trace, std::unique_ptr<base::Random> random)
    : server_(server), trace_(trace), random_(std::move(random)) {
    server.observe([this](const fake::Change& change) {
        if (change.key.resource == kRequests && change.after) follow(change);
    });
}

void Certificates::ask(const std::string& system_uuid, const std::string& node, const std::string& token_id,
                       std::function<void()> granted) {
    auto& mine = waiting_[system_uuid];
    mine = {node, token_id, key_of(system_uuid), std::move(granted), nullptr};
    if (random_->below(kOneOf) == 0) forge(mine);
    const auto name = name_of(system_uuid);
    // The old request is of the attempt before, which had another token.
    if (server_.get<Request>({"", name})) server_.remove<Request>({"", name});
    trace_.line("machine", node, " asks for its certificate");
    server_.put(request_of(test::kubelet_request(node, mine.key), name, token_id));
}

void Certificates::forget(const std::string& system_uuid) {
    waiting_.erase(system_uuid);
}

void Certificates::follow(const fake::Change& change) {
    const auto request = api::decode<Request>(change.after->value());
    if (!is_approved(request)) return;
    for (auto& [uuid, waiting] : waiting_) {
        if (change.key.name != name_of(uuid) || waiting.notice) continue;
        waiting.notice = server_.clock().call_at(server_.clock().now() + kSigning, [this, who = uuid] {
            const auto granted = std::move(waiting_.at(who).granted);
            waiting_.erase(who);
            granted();
        });
        if (random_->below(kOneOf) == 0) forge_with_second_key(waiting);
        return;
    }
}

// Lets a thief send a request that must be refused. It never asks for the machine's own name with another key
// before the machine has asked. The first to use the token would count as the machine.
void Certificates::forge(const Waiting& victim) {
    auto parts = test::kubelet_request(victim.node, victim.key);
    const auto nodes = server_.list<api::Node>();
    switch (random_->below(5)) {
        case 0:
            parts = test::kubelet_request("control-plane-1", kStrangeKey);
            break;
        case 1:
            if (nodes.empty() || nodes.front().metadata.name == victim.node) return;
            parts = test::kubelet_request(nodes.front().metadata.name, kStrangeKey);
            break;
        case 2:
            parts.subject.front().second = "system:masters";
            break;
        case 3:
            parts.alternative_names = "DNS:kubernetes.default.svc";
            break;
        default:
            parts.signed_with = kStrangeKey;
            break;
    }
    // Half of the thieves ask while the machine itself asks.
    send(std::move(parts), victim, random_->below(2) == 0 ? kWhileItJoins : kLongestWait);
}

void Certificates::forge_with_second_key(const Waiting& victim) {
    send(test::kubelet_request(victim.node, kStrangeKey), victim, kWhileItJoins);
}

void Certificates::send(test::RequestParts parts, const Waiting& victim,
                        std::chrono::milliseconds longest_wait) {
    const auto name = std::string(kForged) + std::to_string(++forgeries_);
    auto forged = request_of(parts, name, victim.token_id);
    const base::Duration wait =
        std::chrono::milliseconds{random_->below(static_cast<std::uint64_t>(longest_wait.count()))};
    thefts_[name] = server_.clock().call_at(server_.clock().now() + wait, [this, forged = std::move(forged)] {
        trace_.line("thief", forged.metadata.name, " asks with token ", forged.spec.username);
        server_.put(forged);
    });
}

}  // namespace simulation
