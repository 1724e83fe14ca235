#include "bootstrap/k3s.hpp"

#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <boost/json/value.hpp>

#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "bootstrap/certificates.hpp"
#include "bootstrap/kubelet.hpp"
#include "bootstrap/yaml_writer.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;

constexpr const char* kConfigPath = "/etc/rancher/k3s/config.yaml";

// K3s of the image, or the version that the server has: never whatever is the newest.
std::string start_command(const std::string& version) {
    const auto install =
        version.empty()
            ? "echo 'K3s is not in this image, and the server tells no version of K3s' >&2; exit 1"
            : "curl -sfL https://get.k3s.io | INSTALL_K3S_VERSION='" + version +
                  "' INSTALL_K3S_EXEC=agent sh -";
    return "if command -v k3s >/dev/null; then systemctl enable --now k3s-agent; else " + install + "; fi";
}

// As K3s tells a root from an intermediate: nobody else's key is named as its issuer's.
bool is_root(X509* certificate) {
    const auto* issuer = X509_get0_authority_key_id(certificate);
    const auto* own = X509_get0_subject_key_id(certificate);
    return !issuer || (own && ASN1_OCTET_STRING_cmp(issuer, own) == 0);
}

// The DER of the certificate at which the chain of the first one ends; empty: it ends nowhere.
std::string root_of_first(const Certificates& bundle) {
    using base::openssl::Freed;
    const std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> roots(X509_STORE_new());
    // Not owned by it.
    const std::unique_ptr<STACK_OF(X509), Freed<[](STACK_OF(X509) * stack) { sk_X509_free(stack); }>> others(
        sk_X509_new_null());
    for (std::size_t i = 1; i < bundle.size(); ++i) {
        if (is_root(bundle[i].get()))
            X509_STORE_add_cert(roots.get(), bundle[i].get());
        else
            sk_X509_push(others.get(), bundle[i].get());
    }
    const std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>> chain(X509_STORE_CTX_new());
    X509_STORE_CTX_init(chain.get(), roots.get(), bundle.front().get(), others.get());
    // A CA that has expired is told of by the agent, in words of its own.
    X509_STORE_CTX_set_flags(chain.get(), X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME);
    if (X509_verify_cert(chain.get()) != 1) return {};
    const auto* verified = X509_STORE_CTX_get0_chain(chain.get());
    return der_of(sk_X509_value(verified, sk_X509_num(verified) - 1));
}

json::array kubelet_args(const JoinRequest& request) {
    json::array list;
    for (const auto& [name, value] : kubelet_arguments(request.kubelet))
        list.push_back(json::string(name + "=" + value));
    if (!request.provider_id.empty()) list.push_back(json::string("provider-id=" + request.provider_id));
    return list;
}

}  // namespace

std::string k3s_ca_hash(std::string_view ca_pem) {
    const auto bundle = certificates_of(ca_pem);
    const auto root = bundle.size() > 1 ? root_of_first(bundle) : std::string();
    return base::hex(base::sha256(root.empty() ? ca_pem : std::string_view(root)));
}

std::string k3s_token(const Token& token, std::string_view ca_pem) {
    return "K10" + k3s_ca_hash(ca_pem) + "::" + token.text();
}

JoinPlan plan_k3s(const JoinRequest& request) {
    json::array labels;
    for (const auto& [key, value] : request.labels) {
        if (kubelet_may_set(key)) labels.push_back(json::string(key + "=" + value));
    }
    json::array taints;
    for (const auto& taint : request.taints) {
        taints.push_back(json::string(taint.key + "=" + taint.value + ":" + taint.effect));
    }
    json::object config{{"server", "https://" + request.cluster.endpoint()},
                        {"token", k3s_token(request.token, request.cluster.ca_pem)},
                        {"node-name", request.node_name},
                        {"node-label", labels},
                        {"node-taint", taints}};
    if (auto arguments = kubelet_args(request); !arguments.empty())
        config["kubelet-arg"] = std::move(arguments);
    JoinPlan plan;
    plan.files.push_back({kConfigPath, to_yaml(config)});
    plan.commands.push_back({"sh", "-c", start_command(request.cluster.k3s)});
    return plan;
}

}  // namespace bootstrap
