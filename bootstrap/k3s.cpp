#include "bootstrap/k3s.hpp"

#include <boost/json/value.hpp>

#include "base/hex.hpp"
#include "base/sha256.hpp"
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

}  // namespace

std::string k3s_token(const Token& token, std::string_view ca_pem) {
    return "K10" + base::hex(base::sha256(ca_pem)) + "::" + token.text();
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
    if (!request.provider_id.empty()) {
        config["kubelet-arg"] = json::array{json::string("provider-id=" + request.provider_id)};
    }
    JoinPlan plan;
    plan.files.push_back({kConfigPath, to_yaml(config)});
    plan.commands.push_back({"sh", "-c", start_command(request.cluster.k3s)});
    return plan;
}

}  // namespace bootstrap
