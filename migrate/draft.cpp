#include "migrate/draft.hpp"

#include <algorithm>
#include <set>

#include "api/json.hpp"
#include "api/names.hpp"
#include "bootstrap/yaml_writer.hpp"

namespace kubenodesmith::migrate {
namespace {

namespace json = boost::json;
using namespace api::v1alpha1;

// Returns the members of `value` that differ from those of `defaults`.
json::object without(const json::object& defaults, const json::object& value) {
    json::object result;
    for (const auto& [key, member] : value) {
        const auto* standard = defaults.if_contains(key);
        if (!standard) {
            result[key] = member;
        } else if (standard->is_object() && member.is_object()) {
            auto inner = without(standard->get_object(), member.get_object());
            if (!inner.empty()) result[key] = std::move(inner);
        } else if (*standard != member) {
            result[key] = member;
        }
    }
    return result;
}

template <class T>
json::object spec_of(const T& object) {
    const auto encoded = api::encode(object);
    const auto* spec = encoded.get_object().if_contains("spec");
    return spec ? spec->get_object() : json::object();
}

template <class T>
json::object document(const T& object, json::object spec) {
    json::object metadata;
    metadata["name"] = object.metadata.name;
    metadata["namespace"] = object.metadata.namespace_;
    json::object result;
    result["apiVersion"] = T::kResource.api_version();
    result["kind"] = T::kResource.kind;
    result["metadata"] = std::move(metadata);
    result["spec"] = std::move(spec);
    return result;
}

json::object document_of(const NodeSmithProvider& provider) {
    NodeSmithProvider defaults;
    defaults.spec.type = ProviderType::redfish;  // so that the type is always written
    defaults.spec.proxmox.emplace();
    defaults.spec.proxmox->template_.emplace();
    defaults.spec.proxmox->cloudInit.emplace();
    auto spec = without(spec_of(defaults), spec_of(provider));
    // An empty block is meaningful: the machine gets a cloud-init drive.
    auto& proxmox = spec["proxmox"].as_object();
    if (provider.spec.proxmox->cloudInit && !proxmox.contains("cloudInit"))
        proxmox["cloudInit"] = json::object();
    return document(provider, std::move(spec));
}

json::object document_of(const NodeSmithPool& pool) {
    NodeSmithPool defaults;
    defaults.spec.bootstrap.emplace();
    auto spec = without(spec_of(defaults), spec_of(pool));
    if (!spec.contains("limits")) spec["limits"] = json::object();
    return document(pool, std::move(spec));
}

json::object document_of(const NodeSmithControlPlane& control_plane) {
    return document(control_plane, without(spec_of(NodeSmithControlPlane{}), spec_of(control_plane)));
}

// Reports whether a pool may pass the Secret to machines. Its label must then say so.
bool is_boot_data(const Draft& draft, const std::string& secret) {
    return std::ranges::any_of(draft.pools, [&secret](const auto& entry) {
        const auto& bootstrap = entry.second.spec.bootstrap;
        return bootstrap && bootstrap->commandSecretRef && bootstrap->commandSecretRef->name == secret;
    });
}

json::object secret(const Draft& draft, const std::string& namespace_, const std::string& name) {
    json::object data;
    for (const auto& [key, value] : draft.secrets.at(name)) data[key] = value;
    json::object metadata{{"name", name}, {"namespace", namespace_}};
    if (is_boot_data(draft, name)) metadata["labels"] = json::object{{api::labels::kBootData, "true"}};
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", std::move(metadata)},
            {"stringData", std::move(data)}};
}

}  // namespace

ProxmoxSpec& Draft::proxmox(const std::string& name) {
    auto& block = provider(name).spec.proxmox;
    if (!block) block.emplace();
    return *block;
}

Template& Draft::template_of(const std::string& name) {
    auto& block = proxmox(name).template_;
    if (!block) block.emplace();
    return *block;
}

CloudInit& Draft::cloud_init(const std::string& name) {
    auto& block = proxmox(name).cloudInit;
    if (!block) block.emplace();
    return *block;
}

Bootstrap& Draft::bootstrap(const std::string& name) {
    auto& block = pool(name).spec.bootstrap;
    if (!block) block.emplace();
    return *block;
}

std::string yaml_of(const Draft& draft, bool with_secrets) {
    std::vector<json::object> documents;
    std::set<std::string> namespaces;
    for (const auto& [source, pool] : draft.pools) namespaces.insert(pool.metadata.namespace_);
    if (with_secrets) {
        for (const auto& namespace_ : namespaces) {
            for (const auto& entry : draft.secrets)
                documents.push_back(secret(draft, namespace_, entry.first));
        }
    }
    for (const auto& [source, provider] : draft.providers) {
        documents.push_back(document_of(provider));
    }
    for (const auto& [source, pool] : draft.pools) documents.push_back(document_of(pool));
    for (const auto& namespace_ : namespaces) {
        auto control_plane = draft.control_plane;
        control_plane.metadata.namespace_ = namespace_;
        documents.push_back(document_of(control_plane));
    }
    std::string text;
    for (const auto& each : documents) text += "---\n" + bootstrap::to_yaml(each);
    return text;
}

std::string instruction_for(const Draft& draft, const std::string& namespace_, const std::string& name) {
    std::string keys;
    for (const auto& [key, value] : draft.secrets.at(name)) keys += " --from-file=" + key + "=<file>";
    const auto kubectl = "kubectl --namespace " + namespace_;
    const auto label = is_boot_data(draft, name) ? " && " + kubectl + " label secret " + name + " " +
                                                       std::string(api::labels::kBootData) + "=true"
                                                 : "";
    return "Make the Secret " + namespace_ + "/" + name + ": " + kubectl + " create secret generic " + name +
           keys + label + " (or migrate again with --with-secrets, which writes the values in plain text).";
}

}  // namespace kubenodesmith::migrate
