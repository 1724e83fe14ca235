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

// Distribution describes K3s or RKE2, which is built on K3s and needs the same at other places.
struct Distribution {
    const char* name;
    const char* program;
    const char* config;
    const char* service;
    const char* mark;  // mark of its releases in versions
    // The version is inserted between both commands, which also start its agent.
    const char* install;
    const char* install_end;
};

constexpr Distribution kK3s{"K3s",
                            "k3s",
                            "/etc/rancher/k3s/config.yaml",
                            "k3s-agent",
                            "+k3s",
                            "curl -sfL https://get.k3s.io | INSTALL_K3S_VERSION='",
                            "' INSTALL_K3S_EXEC=agent sh -"};
constexpr Distribution kRke2{"RKE2",
                             "rke2",
                             "/etc/rancher/rke2/config.yaml",
                             "rke2-agent",
                             "+rke2r",
                             "curl -sfL https://get.rke2.io | INSTALL_RKE2_VERSION='",
                             "' INSTALL_RKE2_TYPE=agent sh - && systemctl enable --now rke2-agent"};

// Starts what the image has; otherwise installs the requested version or the server's, never the newest one.
std::string start_command(const Distribution& of, const JoinRequest& request) {
    const auto& version = request.version.empty() ? request.cluster.release : request.version;
    const bool is_known = version.find(of.mark) != std::string::npos;
    const std::string name(of.name);
    const auto install = is_known ? of.install + version + of.install_end
                                  : "echo '" + name +
                                        " is not in this image, and the server reports no version of " +
                                        name + ": set bootstrap.version' >&2; exit 1";
    return "if command -v " + std::string(of.program) + " >/dev/null; then systemctl enable --now " +
           of.service + "; else " + install + "; fi";
}

// Distinguishes a root from an intermediate as K3s does: no other key is named as its issuer's.
bool is_root(X509* certificate) {
    const auto* issuer = X509_get0_authority_key_id(certificate);
    const auto* own = X509_get0_subject_key_id(certificate);
    return !issuer || (own && ASN1_OCTET_STRING_cmp(issuer, own) == 0);
}

// Returns the DER of the certificate that ends the chain of the first one; empty: none does.
std::string root_of_first(const Certificates& bundle) {
    using base::openssl::Freed;
    const std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> roots(X509_STORE_new());
    // does not own the certificates
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
    // The agent itself reports an expired CA.
    X509_STORE_CTX_set_flags(chain.get(), X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME);
    if (X509_verify_cert(chain.get()) != 1) return {};
    const auto* verified = X509_STORE_CTX_get0_chain(chain.get());
    return der_of(sk_X509_value(verified, sk_X509_num(verified) - 1));
}

json::array strings_of(const std::vector<std::string>& texts) {
    json::array list;
    for (const auto& text : texts) list.push_back(json::string(text));
    return list;
}

json::array kubelet_args(const JoinRequest& request) {
    json::array list;
    for (const auto& [name, value] : kubelet_arguments(request.kubelet))
        list.push_back(json::string(name + "=" + value));
    if (!request.provider_id.empty()) list.push_back(json::string("provider-id=" + request.provider_id));
    return list;
}

JoinPlan plan_agent(const Distribution& of, const JoinRequest& request) {
    json::object config{{"server", "https://" + request.cluster.endpoint()},
                        {"token", k3s_token(request.token, request.cluster.ca_pem)},
                        {"node-name", request.node_name},
                        {"node-label", strings_of(label_texts(request.labels))},
                        {"node-taint", strings_of(taint_texts(request.taints))}};
    if (auto arguments = kubelet_args(request); !arguments.empty())
        config["kubelet-arg"] = std::move(arguments);
    JoinPlan plan;
    plan.files.push_back({of.config, to_yaml(config)});
    plan.commands.push_back({"sh", "-c", start_command(of, request)});
    return plan;
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
    return plan_agent(kK3s, request);
}

JoinPlan plan_rke2(const JoinRequest& request) {
    return plan_agent(kRke2, request);
}

}  // namespace bootstrap
