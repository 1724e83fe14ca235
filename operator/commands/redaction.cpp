#include "operator/commands/redaction.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

constexpr const char* kLeftOut = "(left out)";
constexpr std::array<std::string_view, 6> kSecretWords{"password", "passwd",     "secret",
                                                       "token",    "privatekey", "credential"};

bool sounds_secret(std::string_view name) {
    const auto word = base::lower_case(name);
    return std::ranges::any_of(
        kSecretWords, [&](std::string_view secret) { return word.find(secret) != std::string::npos; });
}

// Reports whether the member only refers to a Secret. The name of a Secret is no secret.
bool is_reference(std::string_view name) {
    return base::lower_case(name).ends_with("ref");
}

void redact_all(json::value& value);

void redact_member(std::string_view name, json::value& value) {
    // additionalSettings are from the Go project. The operator passes a `value` to Proxmox unchanged.
    if (name == "additionalSettings" || (name == "value" && value.is_primitive())) {
        value = kLeftOut;
    } else if (sounds_secret(name) && !is_reference(name) && !value.is_array() && !value.is_object()) {
        value = kLeftOut;
    } else {
        redact_all(value);
    }
}

void redact_all(json::value& value) {
    if (auto* object = value.if_object()) {
        for (auto& member : *object) redact_member(member.key(), member.value());
    } else if (auto* array = value.if_array()) {
        for (auto& element : *array) redact_all(element);
    } else if (auto* text = value.if_string()) {
        *text = without_credentials(std::string(*text));
    }
}

void redact_metadata(json::object& metadata) {
    metadata.erase("managedFields");
    auto* annotations = metadata.if_contains("annotations");
    if (!annotations || !annotations->is_object()) return;
    json::object ours;
    for (const auto& [key, value] : annotations->get_object())
        if (std::string_view(key).find("kubenodesmith") != std::string_view::npos) ours[key] = value;
    *annotations = std::move(ours);
}

// Returns the members at these paths, as far as they exist.
json::object selected(const json::value& object, const std::vector<std::string>& pointers) {
    json::value result = json::object();
    for (const auto& pointer : pointers) {
        boost::system::error_code absent;
        const auto* found = object.find_pointer(pointer, absent);
        if (!found || absent) continue;
        auto* at = &result.get_object();
        std::size_t start = 1;
        for (auto end = pointer.find('/', start); end != std::string::npos; end = pointer.find('/', start)) {
            auto& inner = (*at)[pointer.substr(start, end - start)];
            if (!inner.is_object()) inner = json::object();
            at = &inner.get_object();
            start = end + 1;
        }
        (*at)[pointer.substr(start)] = *found;
    }
    return std::move(result.get_object());
}

}  // namespace

std::string without_credentials(std::string text) {
    constexpr std::string_view kScheme = "://";
    for (auto at = text.find(kScheme); at != std::string::npos; at = text.find(kScheme, at + 1)) {
        const auto start = at + kScheme.size();
        const auto end = std::min(text.find_first_of("/ \t\n\"'<>", start), text.size());
        const auto sign = text.substr(start, end - start).rfind('@');
        if (sign != std::string::npos) text.replace(start, sign, "...");
    }
    return text;
}

void redact(json::value& object) {
    if (!object.is_object()) return;
    for (auto& member : object.get_object()) {
        if (member.key() == "metadata" && member.value().is_object())
            redact_metadata(member.value().get_object());
        else
            redact_member(member.key(), member.value());
    }
}

json::object excerpt_of_pod(const json::value& pod) {
    auto result =
        selected(pod, {"/metadata/name", "/metadata/namespace", "/metadata/creationTimestamp",
                       "/metadata/ownerReferences", "/spec/nodeName", "/spec/nodeSelector", "/spec/affinity",
                       "/spec/tolerations", "/spec/topologySpreadConstraints", "/spec/schedulerName",
                       "/spec/priority", "/status/phase", "/status/conditions", "/status/nominatedNodeName"});
    boost::system::error_code absent;
    const auto* containers = pod.find_pointer("/spec/containers", absent);
    if (!containers || !containers->is_array()) return result;
    json::array resources;
    for (const auto& container : containers->get_array())
        resources.push_back(selected(container, {"/name", "/resources"}));
    auto& spec = result["spec"];
    if (!spec.is_object()) spec = json::object();
    spec.get_object()["containers"] = std::move(resources);
    return result;
}

json::object excerpt_of_node(const json::value& node) {
    return selected(node,
                    {"/metadata/name", "/metadata/uid", "/metadata/labels", "/metadata/creationTimestamp",
                     "/spec/providerID", "/spec/taints", "/spec/unschedulable", "/status/capacity",
                     "/status/allocatable", "/status/conditions", "/status/addresses", "/status/nodeInfo"});
}

}  // namespace kubenodesmith
