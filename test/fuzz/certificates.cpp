// Fuzzes the parsers of certificates and of requests for them, which strangers send. The input is PEM, or the
// DER inside it, which a fuzzer varies better.
#include <stdexcept>
#include <string>

#include "bootstrap/approval.hpp"
#include "bootstrap/cluster_info.hpp"
#include "bootstrap/signing_request.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {
namespace {

std::string as_pem(std::string_view input, const std::string& kind) {
    if (input.starts_with("-----")) return std::string(input);
    return "-----BEGIN " + kind + "-----\n" + api::Bytes{std::string(input)}.str() + "\n-----END " + kind +
           "-----\n";
}

void judge(const std::string& pem, std::string_view signer, const char* purpose) {
    api::CertificateSigningRequest request;
    request.spec.request.value = pem;
    request.spec.signerName = signer;
    request.spec.usages = {"digital signature", purpose};
    request.spec.username = "system:bootstrap:abcdef";
    request.spec.groups = {std::string(bootstrap::kTokenGroup)};
    bootstrap::Joiner joiner;
    joiner.node_name = "worker-1";
    joiner.token_id = "abcdef";
    joiner.stage = bootstrap::Stage::Joining;
    const auto client = bootstrap::judge_client(request, &joiner);
    request.spec.username = "system:node:worker-1";
    request.spec.groups = {"system:nodes"};
    const bootstrap::CertificateSubject machine{"worker-1", {"10.0.0.7"}};
    const auto serving = bootstrap::judge_serving(request, &machine);
    if (client.verdict != bootstrap::Verdict::Approve && serving.verdict != bootstrap::Verdict::Approve)
        return;
    const auto asked = bootstrap::parse_signing_request(pem);
    check(asked.organization == "system:nodes", "only what is for a Node is approved");
    check(asked.common_name == "system:node:worker-1", "only this Node's name is approved");
    for (const auto& name : asked.dns_names)
        check(name == "worker-1", "only this machine's name is approved");
    for (const auto& address : asked.ip_addresses)
        check(address == "10.0.0.7", "only this machine's address is approved");
}

}  // namespace

void signing_request(std::string_view input) {
    const auto pem = as_pem(input, "CERTIFICATE REQUEST");
    try {
        const auto asked = bootstrap::parse_signing_request(pem);
        check(asked.key_sha256.size() == 64, "a key has a digest");
    } catch (const std::invalid_argument&) {
    }
    judge(pem, bootstrap::kClientSigner, "client auth");
    judge(pem, bootstrap::kServingSigner, "server auth");
}

void certificate(std::string_view input) {
    try {
        for (const auto& hash : bootstrap::ca_cert_hashes(as_pem(input, "CERTIFICATE")))
            check(hash.size() == std::string_view("sha256:").size() + 64, "a hash is that of a key");
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace fuzz
