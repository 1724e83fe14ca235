#include "bootstrap/approval.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "bootstrap/signing_request.hpp"

namespace bootstrap {

namespace {

constexpr std::string_view kTokenUser = "system:bootstrap:";
constexpr std::string_view kNodeUser = "system:node:";
constexpr std::string_view kNodesGroup = "system:nodes";

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
    return std::ranges::find(list, wanted) != list.end();
}

std::optional<std::string> after(const std::string& text, std::string_view prefix) {
    if (!text.starts_with(prefix) || text.size() == prefix.size()) return std::nullopt;
    return text.substr(prefix.size());
}

// Compares the usages. RSA keys need key encipherment, others do not.
bool usages_are(const std::vector<std::string>& usages, const std::string& purpose) {
    std::set<std::string> given(usages.begin(), usages.end());
    given.erase("key encipherment");
    return given == std::set<std::string>{purpose, "digital signature"};
}

Approval deny(std::string reason, std::string message) {
    return {Verdict::Deny, std::move(reason), std::move(message), {}};
}

Approval wait(std::string reason, std::string message) {
    return {Verdict::Wait, std::move(reason), std::move(message), {}};
}

// Returns why the request is not for that Node's name; empty: it is. The requested name is not
// repeated, because its author chose it.
std::string identity_fault(const SigningRequest& asked, const std::string& node_name) {
    if (asked.organization != kNodesGroup) return "the subject's O is not system:nodes";
    if (asked.common_name != std::string(kNodeUser) + node_name)
        return "the subject's CN is not system:node:" + node_name;
    return {};
}

// Returns what is wrong with the requested subject and usages.
std::string client_fault(const api::CertificateSigningRequestSpec& spec, const SigningRequest& asked,
                         const std::string& node_name) {
    if (auto fault = identity_fault(asked, node_name); !fault.empty()) return fault;
    if (!asked.dns_names.empty() || !asked.ip_addresses.empty())
        return "a client certificate has no alternative names";
    if (!usages_are(spec.usages, "client auth"))
        return "the usages of a kubelet's client certificate are client auth, digital signature and, for RSA "
               "keys, key encipherment";
    return {};
}

// Returns the first name or address that is not known to be the machine's; nullopt: all are.
std::optional<std::string> unknown_name(const SigningRequest& asked, const CertificateSubject& machine) {
    for (const auto& name : asked.dns_names)
        if (name != machine.node_name && !contains(machine.addresses, name)) return name;
    for (const auto& address : asked.ip_addresses)
        if (!contains(machine.addresses, address)) return address;
    return std::nullopt;
}

// Makes a name safe for an Event. Others chose it, so its length is bounded,
// and unusual characters are replaced.
std::string printable(std::string name) {
    constexpr std::size_t kLongestName = 253;
    if (name.size() > kLongestName) name.resize(kLongestName);
    for (auto& c : name)
        if (c <= ' ' || c > '~') c = '?';
    return name;
}

}  // namespace

bool decided(const api::CertificateSigningRequest& request) {
    return !request.status.conditions.empty();
}

std::optional<std::string> token_of_requester(const api::CertificateSigningRequest& request) {
    if (!contains(request.spec.groups, kTokenGroup)) return std::nullopt;
    return after(request.spec.username, kTokenUser);
}

std::optional<std::string> node_of_requester(const api::CertificateSigningRequest& request) {
    if (!contains(request.spec.groups, kNodesGroup)) return std::nullopt;
    return after(request.spec.username, kNodeUser);
}

Approval judge_client(const api::CertificateSigningRequest& request, const Joiner* joiner) {
    const auto token = token_of_requester(request);
    if (!token || decided(request) || !joiner || joiner->token_id != *token) return {};
    const auto& spec = request.spec;
    if (spec.signerName != kClientSigner)
        return deny("OtherSigner", "a bootstrap token may request a certificate of signer " +
                                       std::string(kClientSigner) + " and of no other");
    if (joiner->stage == Stage::Over)
        return deny("NotJoining", "the claim's machine has already joined or is being removed");
    if (joiner->stage == Stage::Coming) return wait("NotLaunched", "the claim's machine is not created yet");
    if (!joiner->name_taken.empty())
        return deny("NameTaken", "the name of this claim's machine is taken: " + joiner->name_taken);
    SigningRequest asked;
    try {
        asked = parse_signing_request(spec.request.value);
    } catch (const std::invalid_argument& error) {
        return deny("NotAKubeletsRequest", error.what());
    }
    if (auto fault = client_fault(spec, asked, joiner->node_name); !fault.empty())
        return deny("NotThisNode", std::move(fault));
    if (!joiner->key_sha256.empty() && joiner->key_sha256 != asked.key_sha256)
        return deny("SecondKey", "this attempt of the claim was granted a certificate for another key");
    return {Verdict::Approve, "TokenOfThisNode", "the token is that of the claim with this Node's name",
            asked.key_sha256};
}

Approval judge_serving(const api::CertificateSigningRequest& request, const CertificateSubject* machine) {
    const auto& spec = request.spec;
    const auto node = node_of_requester(request);
    if (spec.signerName != kServingSigner || !node || decided(request)) return {};
    if (!machine || machine->node_name != *node) return {};
    SigningRequest asked;
    try {
        asked = parse_signing_request(spec.request.value);
    } catch (const std::invalid_argument& error) {
        return wait("NotAKubeletsRequest", error.what());
    }
    if (auto fault = identity_fault(asked, *node); !fault.empty())
        return wait("NotThisNode", std::move(fault));
    if (!usages_are(spec.usages, "server auth"))
        return wait("OtherUsages",
                    "the usages of a kubelet's serving certificate are server auth, digital signature "
                    "and, for RSA keys, key encipherment");
    if (asked.dns_names.empty() && asked.ip_addresses.empty())
        return wait("NoNames", "a serving certificate needs a DNS name or an IP address");
    if (const auto name = unknown_name(asked, *machine))
        return wait(std::string(kUnknownAddress),
                    printable(*name) +
                        " is neither the Node's name nor an address that the operator gave to this machine, "
                        "nor an address that is free for it in a network of bootstrap.servingNetworks of its "
                        "NodeSmithControlPlane");
    return {Verdict::Approve, "NamesOfThisMachine", "every name and address belongs to this machine",
            asked.key_sha256};
}

}  // namespace bootstrap
