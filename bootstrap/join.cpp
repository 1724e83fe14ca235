#include "bootstrap/join.hpp"

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "bootstrap/k3s.hpp"
#include "bootstrap/kubelet.hpp"
#include "bootstrap/yaml_writer.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;
using api::v1alpha1::BootstrapFormat;

constexpr const char* kJoinConfigurationPath = "/etc/kubernetes/kubenodesmith-join.yaml";
constexpr const char* kCustomScriptPath = "/var/lib/kubenodesmith/join";

std::string joined_labels(const api::StringMap& labels) {
    std::string result;
    for (const auto& [key, value] : labels) {
        if (!kubelet_may_set(key)) continue;
        result += (result.empty() ? "" : ",") + key + "=" + value;
    }
    return result;
}

bool takes_v1beta4(const ClusterInfo& cluster) {
    constexpr int kFirstMinor = 31;
    return cluster.minor == 0 || cluster.minor >= kFirstMinor;
}

// A list in v1beta4, a map before; null: none.
json::value kubeadm_arguments(const JoinRequest& request) {
    json::array list;
    json::object map;
    const auto add = [&](std::string_view name, const std::string& value) {
        list.push_back({{"name", name}, {"value", value}});
        map[name] = value;
    };
    if (const auto labels = joined_labels(request.labels); !labels.empty()) add("node-labels", labels);
    for (const auto& [name, value] : kubelet_arguments(request.kubelet)) add(name, value);
    if (!request.provider_id.empty()) add("provider-id", request.provider_id);
    if (list.empty()) return nullptr;
    if (takes_v1beta4(request.cluster)) return list;
    return map;
}

json::array taint_list(const std::vector<api::Taint>& taints) {
    json::array list;
    for (const auto& taint : taints) {
        json::object entry{{"key", taint.key}};
        if (!taint.value.empty()) entry["value"] = taint.value;
        entry["effect"] = taint.effect;
        list.push_back(std::move(entry));
    }
    return list;
}

JoinPlan plan_kubeadm(const JoinRequest& request) {
    JoinPlan plan;
    plan.files.push_back({kJoinConfigurationPath, kubeadm_join_configuration(request)});
    plan.commands.push_back({"kubeadm", "join", "--config", kJoinConfigurationPath});
    return plan;
}

JoinPlan plan_custom(const JoinRequest& request) {
    if (request.custom_command.empty()) {
        throw std::invalid_argument(
            "bootstrap.format Custom needs bootstrap.commandSecretRef with a command");
    }
    auto script = fill_placeholders(request.custom_command,
                                    {{"Token", request.token.text()},
                                     {"Endpoint", request.cluster.endpoint()},
                                     {"CACertHash", ca_cert_hashes(request.cluster.ca_pem).front()},
                                     {"NodeName", request.node_name},
                                     {"Host", request.host}});
    if (!script.starts_with("#!")) script = "#!/bin/sh\n" + script;
    if (!script.ends_with('\n')) script += '\n';
    JoinPlan plan;
    plan.files.push_back({kCustomScriptPath, std::move(script), "0700"});
    plan.commands.push_back({kCustomScriptPath});
    return plan;
}

}  // namespace

JoinPlan plan_join(const JoinRequest& request) {
    if (request.node_name.empty()) throw std::invalid_argument("a join needs the Node's name");
    if (const auto problem = kubelet_problem(request.kubelet); !problem.empty())
        throw std::invalid_argument(problem);
    switch (request.format) {
        case BootstrapFormat::Kubeadm:
            return plan_kubeadm(request);
        case BootstrapFormat::K3s:
            return plan_k3s(request);
        case BootstrapFormat::Custom:
            return plan_custom(request);
    }
    throw std::invalid_argument("unknown bootstrap format");
}

std::string kubeadm_join_configuration(const JoinRequest& request) {
    json::array hashes;
    for (const auto& hash : ca_cert_hashes(request.cluster.ca_pem)) hashes.push_back(json::string(hash));
    json::object registration{{"name", request.node_name}, {"taints", taint_list(request.taints)}};
    if (auto arguments = kubeadm_arguments(request); !arguments.is_null()) {
        registration["kubeletExtraArgs"] = std::move(arguments);
    }
    const auto* version =
        takes_v1beta4(request.cluster) ? "kubeadm.k8s.io/v1beta4" : "kubeadm.k8s.io/v1beta3";
    return to_yaml({{"apiVersion", version},
                    {"kind", "JoinConfiguration"},
                    {"discovery",
                     {{"bootstrapToken",
                       {{"apiServerEndpoint", request.cluster.endpoint()},
                        {"token", request.token.text()},
                        {"caCertHashes", hashes}}}}},
                    {"nodeRegistration", registration}});
}

std::vector<api::Taint> registration_taints(const std::vector<api::Taint>& taints,
                                            const std::vector<api::Taint>& startup_taints) {
    std::vector<api::Taint> all{
        {std::string(api::taints::kUnregistered), "", std::string(api::taints::kNoExecute)}};
    const auto add = [&](const api::Taint& taint) {
        if (!api::find_taint(all, taint.key, taint.effect)) all.push_back(taint);
    };
    std::ranges::for_each(taints, add);
    std::ranges::for_each(startup_taints, add);
    return all;
}

bool kubelet_may_set(std::string_view label_key) {
    static constexpr std::array<std::string_view, 12> kKnown = {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.kubernetes.io/region",
        "failure-domain.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
    };
    if (std::ranges::find(kKnown, label_key) != kKnown.end() || label_key == api::labels::kZone) return true;
    const auto slash = label_key.find('/');
    if (slash == std::string_view::npos) return true;
    const auto domain = label_key.substr(0, slash);
    const auto is_or_is_below = [&](std::string_view parent) {
        return domain == parent ||
               (domain.ends_with(parent) && domain[domain.size() - parent.size() - 1] == '.');
    };
    if (is_or_is_below("kubelet.kubernetes.io") || is_or_is_below("node.kubernetes.io")) return true;
    return !is_or_is_below("kubernetes.io") && !is_or_is_below("k8s.io");
}

namespace {

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

const std::string& value_of(std::string_view name, const std::map<std::string, std::string>& values) {
    const auto found = name.starts_with('.') ? values.find(std::string(name.substr(1))) : values.end();
    if (found != values.end()) return found->second;
    std::string known;
    for (const auto& [key, value] : values) known += (known.empty() ? "{{ ." : ", {{ .") + key + " }}";
    throw std::invalid_argument("unknown placeholder {{ " + std::string(name) + " }}, known are " + known);
}

}  // namespace

std::string fill_placeholders(std::string_view text, const std::map<std::string, std::string>& values) {
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

}  // namespace bootstrap
