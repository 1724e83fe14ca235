#include "bootstrap/custom.hpp"

#include <stdexcept>

#include "base/text.hpp"
#include "bootstrap/k3s.hpp"
#include "bootstrap/kubelet.hpp"
#include "bootstrap/shell.hpp"

namespace bootstrap {

namespace {

constexpr const char* kScriptPath = "/var/lib/kubenodesmith/join";

std::string kubelet_line(const api::v1alpha1::Kubelet& kubelet) {
    std::vector<std::string> arguments;
    for (const auto& [name, value] : kubelet_arguments(kubelet))
        arguments.push_back("--" + name + "=" + value);
    return command_line(arguments);
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

const std::string& value_of(std::string_view name, const Placeholders& values) {
    const auto found = name.starts_with('.') ? values.find(std::string(name.substr(1))) : values.end();
    if (found != values.end()) return found->second;
    std::string known;
    for (const auto& [key, value] : values) known += (known.empty() ? "{{ ." : ", {{ .") + key + " }}";
    throw std::invalid_argument("unknown placeholder {{ " + std::string(name) + " }}, known are " + known);
}

}  // namespace

std::string fill_placeholders(std::string_view text, const Placeholders& values) {
    std::string result;
    while (true) {
        const auto begin = text.find("{{");
        result += text.substr(0, begin);
        if (begin == std::string_view::npos) return result;
        const auto end = text.find("}}", begin);
        if (end == std::string_view::npos)
            throw std::invalid_argument("a placeholder {{ is never closed by }}");
        result += value_of(trim(text.substr(begin + 2, end - begin - 2)), values);
        text.remove_prefix(end + 2);
    }
}

Placeholders placeholders(const JoinRequest& request) {
    const auto& ca = request.cluster.ca_pem;
    const auto& maxPods = request.kubelet.maxPods;
    return {{"Addresses", base::joined(request.addresses, ",")},
            {"CACert", ca},
            {"CACertHash", ca_cert_hashes(ca).front()},
            {"Endpoint", request.cluster.endpoint()},
            {"Host", request.host},
            {"K3sCAHash", k3s_ca_hash(ca)},
            {"KubeletArgs", kubelet_line(request.kubelet)},
            {"Labels", label_list(request.labels)},
            {"MACAddresses", base::joined(request.mac_addresses, ",")},
            {"MaxPods", maxPods > 0 ? std::to_string(maxPods) : ""},
            {"NodeName", request.node_name},
            {"Pool", request.pool},
            {"ProviderID", request.provider_id},
            {"Region", request.region},
            {"Server", "https://" + request.cluster.endpoint()},
            {"Taints", taint_list(request.taints)},
            {"Token", request.token.text()},
            {"Zone", request.zone}};
}

JoinPlan plan_custom(const JoinRequest& request) {
    if (request.given.empty()) {
        throw std::invalid_argument(
            "bootstrap.format Custom needs bootstrap.commandSecretRef with a command");
    }
    auto script = fill_placeholders(request.given, placeholders(request));
    if (!script.starts_with("#!")) script = "#!/bin/sh\n" + script;
    if (!script.ends_with('\n')) script += '\n';
    JoinPlan plan;
    plan.files.push_back({kScriptPath, std::move(script), "0700"});
    plan.commands.push_back({kScriptPath});
    return plan;
}

}  // namespace bootstrap
