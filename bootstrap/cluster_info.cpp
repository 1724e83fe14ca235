#include "bootstrap/cluster_info.hpp"

#include <openssl/x509.h>
#include <charconv>
#include <regex>
#include <stdexcept>

#include "api/yaml.hpp"
#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "base/url.hpp"
#include "bootstrap/certificates.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;

const json::value* member(const json::value& value, std::string_view name) {
    return value.is_object() ? value.as_object().if_contains(name) : nullptr;
}

std::string text(const json::value* value) {
    return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

[[noreturn]] void refuse(const std::string& why) {
    throw std::invalid_argument("ConfigMap kube-public/cluster-info: " + why);
}

json::value parse_kubeconfig(const std::string& yaml) {
    try {
        return api::parse_yaml(yaml, api::kObjectBounds);
    } catch (const api::YamlError& error) {
        refuse(std::string("its kubeconfig is not YAML: ") + error.what());
    }
}

std::string public_key_hash(X509* certificate) {
    unsigned char* der = nullptr;
    const int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
    if (length <= 0) throw std::invalid_argument("a CA certificate's public key cannot be read");
    const auto digest = base::sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(length)});
    OPENSSL_free(der);
    return "sha256:" + base::hex(digest);
}

}  // namespace

std::string ClusterInfo::endpoint() const {
    const auto url = base::parse_url(server);
    if (url.scheme != "https")
        throw std::invalid_argument("the API server's address " + server + " is not https://");
    return url.authority();
}

int minor_version(const json::value& version) {
    // Some distributions report "31+".
    const auto minor = text(member(version, "minor"));
    int number = 0;
    std::from_chars(minor.data(), minor.data() + minor.size(), number);
    return number;
}

std::string release_version(const json::value& version) {
    auto told = text(member(version, "gitVersion"));
    return is_release(told) ? told : std::string();
}

bool is_release(const std::string& version) {
    // It becomes part of a command that the machine runs.
    static const std::regex kRelease(R"(v1\.\d{1,3}\.\d{1,3}(-rc\d{1,3})?\+(k3s|rke2r)\d{1,3})");
    return std::regex_match(version, kRelease);
}

ClusterInfo parse_cluster_info(const api::ConfigMap& cluster_info) {
    const auto* kubeconfig = api::find(cluster_info.data, "kubeconfig");
    if (!kubeconfig) refuse("key kubeconfig is missing; `kubeadm init phase bootstrap-token` writes it");
    const auto document = parse_kubeconfig(*kubeconfig);
    const auto* clusters = member(document, "clusters");
    if (!clusters || !clusters->is_array() || clusters->as_array().empty())
        refuse("its kubeconfig has no cluster");
    const auto* cluster = member(clusters->as_array().front(), "cluster");
    if (!cluster) refuse("its kubeconfig has no cluster");
    ClusterInfo info;
    info.server = text(member(*cluster, "server"));
    if (info.server.empty()) refuse("its kubeconfig names no server");
    const auto encoded = text(member(*cluster, "certificate-authority-data"));
    if (encoded.empty()) refuse("its kubeconfig has no certificate-authority-data");
    info.ca_pem = api::Bytes::parse(encoded).value;
    return info;
}

ClusterInfo with_endpoint(ClusterInfo info, std::string_view endpoint) {
    if (endpoint.empty()) return info;
    info.server =
        endpoint.starts_with("https://") ? std::string(endpoint) : "https://" + std::string(endpoint);
    return info;
}

std::vector<std::string> ca_cert_hashes(std::string_view ca_pem) {
    std::vector<std::string> hashes;
    for (const auto& certificate : certificates_of(ca_pem))
        hashes.push_back(public_key_hash(certificate.get()));
    return hashes;
}

ClusterInfo cluster_info_of_root_ca(const api::ConfigMap& root_ca, const std::string& endpoint) {
    const auto* pem = api::find(root_ca.data, "ca.crt");
    if (!pem || pem->empty()) throw std::invalid_argument("key ca.crt is missing");
    ClusterInfo info;
    info.ca_pem = *pem;
    return with_endpoint(std::move(info), endpoint);
}

}  // namespace bootstrap
