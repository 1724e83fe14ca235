#include "bootstrap/kubeadm.hpp"

#include <boost/json/value.hpp>

#include "bootstrap/kubelet.hpp"
#include "bootstrap/yaml_writer.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;

constexpr const char* kJoinConfigurationPath = "/etc/kubernetes/kubenodesmith-join.yaml";

bool takes_v1beta4(const ClusterInfo& cluster) {
    constexpr int kFirstMinor = 31;
    return cluster.minor == 0 || cluster.minor >= kFirstMinor;
}

// Returns a list in v1beta4, or a map in earlier versions; null: none.
json::value kubeadm_arguments(const JoinRequest& request) {
    json::array list;
    json::object map;
    const auto add = [&](std::string_view name, const std::string& value) {
        list.push_back({{"name", name}, {"value", value}});
        map[name] = value;
    };
    if (const auto labels = label_list(request.labels); !labels.empty()) add("node-labels", labels);
    for (const auto& [name, value] : kubelet_arguments(request.kubelet)) add(name, value);
    if (!request.provider_id.empty()) add("provider-id", request.provider_id);
    if (list.empty()) return nullptr;
    if (takes_v1beta4(request.cluster)) return list;
    return map;
}

json::array taints_of(const JoinRequest& request) {
    json::array list;
    for (const auto& taint : request.taints) {
        json::object entry{{"key", taint.key}};
        if (!taint.value.empty()) entry["value"] = taint.value;
        entry["effect"] = taint.effect;
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace

JoinPlan plan_kubeadm(const JoinRequest& request) {
    JoinPlan plan;
    plan.files.push_back({kJoinConfigurationPath, kubeadm_join_configuration(request)});
    plan.commands.push_back({"kubeadm", "join", "--config", kJoinConfigurationPath});
    return plan;
}

std::string kubeadm_join_configuration(const JoinRequest& request) {
    json::array hashes;
    for (const auto& hash : ca_cert_hashes(request.cluster.ca_pem)) hashes.push_back(json::string(hash));
    json::object registration{{"name", request.node_name}, {"taints", taints_of(request)}};
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

}  // namespace bootstrap
