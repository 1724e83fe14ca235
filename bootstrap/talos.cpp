#include "bootstrap/talos.hpp"

#include <algorithm>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "api/bytes.hpp"
#include "api/yaml.hpp"
#include "bootstrap/kubelet.hpp"
#include "bootstrap/yaml_writer.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;

[[noreturn]] void refuse(const std::string& why) {
    throw std::invalid_argument("the machine configuration of bootstrap.machineConfigSecretRef " + why);
}

std::vector<json::value> parse(const std::string& text) {
    try {
        return api::parse_yaml_documents(text, api::kObjectBounds);
    } catch (const api::YamlError& error) {
        refuse(std::string("is not YAML: ") + error.what());
    }
}

json::object& section(json::object& parent, std::string_view key, const std::string& path) {
    auto& value = parent[key];
    if (value.is_null()) value = json::object();
    if (!value.is_object()) refuse("has no mapping at " + path);
    return value.as_object();
}

std::string text_at(const json::object& parent, std::string_view key) {
    const auto* value = parent.if_contains(key);
    return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

// Returns the document without a kind.
json::object& main_document(std::vector<json::value>& documents) {
    for (auto& document : documents) {
        if (!document.is_object()) refuse("has a document that is not a mapping");
        if (document.as_object().contains("machine")) return document.as_object();
    }
    refuse("has no document with machine and cluster: give what `talosctl gen config` writes to worker.yaml");
}

void check_type(json::object& machine) {
    const auto type = text_at(machine, "type");
    if (type.empty()) machine["type"] = "worker";
    if (!type.empty() && type != "worker") refuse("is not of type worker");
    if (text_at(machine, "token").empty())
        refuse("lacks machine.token, without which Talos' own API stays closed");
}

void name_machine(std::vector<json::value>& documents, json::object& machine, const std::string& name) {
    for (auto& document : documents) {
        auto& object = document.as_object();
        if (text_at(object, "kind") != "HostnameConfig") continue;
        object.erase("auto");
        object["hostname"] = name;
        if (auto* network = machine.if_contains("network"); network && network->is_object())
            network->as_object().erase("hostname");
        return;
    }
    section(machine, "network", "machine.network")["hostname"] = name;
}

// Appends to the user's value, which is kept and comes first.
void append(json::object& arguments, std::string_view name, const std::string& list) {
    if (list.empty()) return;
    const auto before = text_at(arguments, name);
    arguments[name] = before.empty() ? list : before + "," + list;
}

void tell_kubelet(json::object& machine, const JoinRequest& request) {
    auto& kubelet = section(machine, "kubelet", "machine.kubelet");
    auto& arguments = section(kubelet, "extraArgs", "machine.kubelet.extraArgs");
    append(arguments, "node-labels", label_list(request.labels));
    append(arguments, "register-with-taints", taint_list(request.taints));
    for (const auto& [name, value] : kubelet_arguments(request.kubelet)) arguments[name] = value;
    if (!request.provider_id.empty()) arguments["provider-id"] = request.provider_id;
}

void tell_cluster(json::object& cluster, const JoinRequest& request) {
    cluster["token"] = request.token.text();
    auto& control_plane = section(cluster, "controlPlane", "cluster.controlPlane");
    if (text_at(control_plane, "endpoint").empty())
        control_plane["endpoint"] = "https://" + request.cluster.endpoint();
    auto& ca = section(cluster, "ca", "cluster.ca");
    if (text_at(ca, "crt").empty()) ca["crt"] = api::Bytes{request.cluster.ca_pem}.str();
    if (!ca.contains("key")) ca["key"] = "";
}

}  // namespace

std::string talos_machine_config(const JoinRequest& request) {
    if (request.given.empty())
        throw std::invalid_argument("bootstrap.format Talos needs bootstrap.machineConfigSecretRef");
    auto documents = parse(request.given);
    auto& document = main_document(documents);
    auto& machine = section(document, "machine", "machine");
    check_type(machine);
    name_machine(documents, machine, request.node_name);
    tell_kubelet(machine, request);
    tell_cluster(section(document, "cluster", "cluster"), request);
    std::string text;
    for (const auto& each : documents) text += (text.empty() ? "" : "---\n") + to_yaml(each);
    return text;
}

JoinPlan plan_talos(const JoinRequest& request) {
    JoinPlan plan;
    plan.document = talos_machine_config(request);
    return plan;
}

}  // namespace bootstrap
