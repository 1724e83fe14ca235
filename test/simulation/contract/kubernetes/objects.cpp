#include "test/simulation/contract/kubernetes/objects.hpp"

#include <algorithm>

namespace contract {

Server& server() {
    static const auto instance = make_server();
    return *instance;
}

json::object config_map(const std::string& name, const std::string& value) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", name}}},
            {"data", {{"value", value}}}};
}

json::object marked(const std::string& name, const std::string& mark) {
    auto object = config_map(name);
    object["metadata"].as_object()["labels"] = {{"mark", mark}};
    return object;
}

json::object metadata(const std::string& field, json::value value) {
    json::object fields;
    fields[field] = std::move(value);
    return {{"metadata", std::move(fields)}};
}

json::object pod(const std::string& name) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"labels", {{"app", name}}}}},
            {"spec",
             {{"nodeName", "nowhere"},
              {"schedulerName", "nobody"},
              {"terminationGracePeriodSeconds", 3600},
              {"containers", {{{"name", "c"}, {"image", "example.invalid/c"}}}}}}};
}

json::object budget(const std::string& name, int min_available) {
    return {{"apiVersion", "policy/v1"},
            {"kind", "PodDisruptionBudget"},
            {"metadata", {{"name", name}}},
            {"spec", {{"minAvailable", min_available}, {"selector", {{"matchLabels", {{"app", name}}}}}}}};
}

Answer running_pod(const std::string& name, bool ready) {
    server().call("POST", kPods, pod(name));
    json::object condition{{"type", "Ready"}, {"status", ready ? "True" : "False"}};
    json::object status{{"phase", "Running"}, {"conditions", json::array{condition}}};
    return server().call("PATCH", kPods + "/" + name + "/status", json::object{{"status", status}},
                         kMergePatch);
}

void end_pod(const std::string& name) {
    server().call("DELETE", kPods + "/" + name, json::object{{"gracePeriodSeconds", 0}});
}

Answer evict(const std::string& pod, json::object delete_options) {
    json::object eviction{{"apiVersion", "policy/v1"},
                          {"kind", "Eviction"},
                          {"metadata", {{"name", pod}}},
                          {"deleteOptions", std::move(delete_options)}};
    return server().call("POST", kPods + "/" + pod + "/eviction", eviction);
}

std::vector<std::string> names_of(const Answer& list) {
    std::vector<std::string> names;
    for (const auto& item : list.body.at("items").as_array()) {
        names.emplace_back(item.at("metadata").at("name").as_string());
    }
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> told(const std::vector<json::object>& events) {
    std::vector<std::string> lines;
    for (const auto& event : events) {
        std::string line(event.at("type").as_string());
        const auto* metadata = event.at("object").as_object().if_contains("metadata");
        const auto* name = metadata ? metadata->as_object().if_contains("name") : nullptr;
        if (name) line += " " + std::string(name->as_string());
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace contract
