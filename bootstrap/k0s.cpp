#include "bootstrap/k0s.hpp"

#include <boost/crc.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "api/bytes.hpp"
#include "bootstrap/kubelet.hpp"
#include "bootstrap/yaml_writer.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;

constexpr const char* kTokenPath = "/etc/k0s/kubenodesmith-token";

std::string little_endian(std::uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
}

// Returns a gzip file of stored blocks, which need no compressor (RFC 1952, RFC 1951 section 3.2.4).
std::string gzip(std::string_view text) {
    constexpr std::size_t kLongestBlock = 0xffff;
    std::string file("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
    boost::crc_32_type crc;
    crc.process_bytes(text.data(), text.size());
    const auto size = static_cast<std::uint32_t>(text.size());
    do {
        const auto block = text.substr(0, kLongestBlock);
        text.remove_prefix(block.size());
        const auto length = static_cast<std::uint32_t>(block.size());
        file += text.empty() ? '\1' : '\0';
        file += little_endian(length, 2) + little_endian(~length, 2) + std::string(block);
    } while (!text.empty());
    return file + little_endian(crc.checksum(), 4) + little_endian(size, 4);
}

json::object kubeconfig(const JoinRequest& request) {
    return {
        {"apiVersion", "v1"},
        {"kind", "Config"},
        {"clusters",
         json::array{{{"name", "k0s"},
                      {"cluster",
                       {{"server", "https://" + request.cluster.endpoint()},
                        {"certificate-authority-data", api::Bytes{request.cluster.ca_pem}.str()}}}}}},
        {"users", json::array{{{"name", "kubelet-bootstrap"}, {"user", {{"token", request.token.text()}}}}}},
        {"contexts",
         json::array{{{"name", "k0s"}, {"context", {{"cluster", "k0s"}, {"user", "kubelet-bootstrap"}}}}}},
        {"current-context", "k0s"}};
}

// Builds the kubelet's arguments as one line, which k0s splits at blanks.
std::string kubelet_line(const JoinRequest& request) {
    auto arguments = kubelet_arguments(request.kubelet);
    if (!request.provider_id.empty()) arguments.emplace_back("provider-id", request.provider_id);
    std::string line;
    for (const auto& [name, value] : arguments) {
        if (value.find_first_of(" \t'\"") != std::string::npos)
            throw std::invalid_argument(
                "bootstrap.kubelet.extraArgs: format K0s takes no blanks or quotes in the "
                "value of " +
                name);
        line += (line.empty() ? "--" : " --") + name + "=" + value;
    }
    return line;
}

}  // namespace

std::string k0s_token(const JoinRequest& request) {
    ca_cert_hashes(request.cluster.ca_pem);  // throws if there is none
    return api::Bytes{gzip(to_yaml(kubeconfig(request)))}.str();
}

JoinPlan plan_k0s(const JoinRequest& request) {
    std::vector<std::string> install{"k0s", "install", "worker", "--token-file", kTokenPath};
    if (const auto labels = label_list(request.labels); !labels.empty())
        install.push_back("--labels=" + labels);
    if (!request.taints.empty()) install.push_back("--taints=" + taint_list(request.taints));
    if (const auto line = kubelet_line(request); !line.empty())
        install.push_back("--kubelet-extra-args=" + line);
    JoinPlan plan;
    plan.files.push_back({kTokenPath, k0s_token(request) + "\n"});
    plan.commands.push_back(std::move(install));
    plan.commands.push_back({"k0s", "start"});
    return plan;
}

}  // namespace bootstrap
