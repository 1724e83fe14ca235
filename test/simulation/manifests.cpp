#include "test/simulation/manifests.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <map>

#include "api/yaml.hpp"
#include "base/file.hpp"
#include "test/simulation/text_at.hpp"

namespace simulation {
namespace {

namespace json = boost::json;

// Returns the fenced blocks of a page as documents of one stream.
std::string yaml_blocks(const std::string& page) {
    static constexpr std::string_view kBegin = "```yaml\n", kEnd = "\n```";
    std::string blocks;
    for (auto at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at)) {
        at += kBegin.size();
        const auto end = page.find(kEnd, at);
        blocks += "---\n" + page.substr(at, end - at) + "\n";
        at = end;
    }
    return blocks;
}

const std::vector<json::value>& documents_of(const std::string& file) {
    static std::map<std::string, std::vector<json::value>> known;
    const auto found = known.find(file);
    if (found != known.end()) return found->second;
    auto text = base::read_file(std::string(KUBENODESMITH_SOURCE) + "/" + file);
    if (file.ends_with(".md")) text = yaml_blocks(text);
    return known[file] = api::parse_yaml_documents(text);
}

void lay_over(json::value& below, const json::value& above) {
    if (!below.is_object() || !above.is_object()) {
        below = above;
        return;
    }
    for (const auto& [name, value] : above.get_object()) lay_over(below.get_object()[name], value);
}

std::string identity_of(const json::object& object) {
    const auto* metadata = object.if_contains("metadata");
    const auto name = metadata && metadata->is_object() ? text_at(metadata->get_object(), "name") : "";
    return text_at(object, "kind") + " " + name;
}

template <class T>
bool is_a(const json::object& object) {
    return text_at(object, "kind") == T::kResource.kind &&
           text_at(object, "apiVersion") == T::kResource.api_version();
}

// Returns the deployment that keeps the object's pods. A Job keeps as many as it runs at a time.
Deployment deployment_of(const json::object& object) {
    const auto& spec = object.at("spec").as_object();
    const auto* parallelism = spec.if_contains("parallelism");
    const auto* replicas = parallelism ? parallelism : spec.if_contains("replicas");
    Deployment deployment;
    deployment.name = text_at(object.at("metadata").as_object(), "name");
    deployment.replicas = replicas ? replicas->to_number<std::int64_t>() : 1;
    deployment.most_replicas = std::max<std::int64_t>(deployment.replicas, 1);
    deployment.pod = api::decode<api::Pod>(spec.contains("template") ? spec.at("template") : object);
    deployment.pod.metadata.labels["app"] = deployment.name;
    return deployment;
}

void add(Manifests& manifests, const json::object& object) {
    const auto kind = text_at(object, "kind");
    if (is_a<NodeSmithProvider>(object))
        manifests.providers.push_back(api::decode<NodeSmithProvider>(object));
    if (is_a<NodeSmithPool>(object)) manifests.pools.push_back(api::decode<NodeSmithPool>(object));
    if (is_a<NodeSmithControlPlane>(object))
        manifests.control_plane = api::decode<NodeSmithControlPlane>(object);
    if (is_a<api::PodDisruptionBudget>(object))
        manifests.budgets.push_back(api::decode<api::PodDisruptionBudget>(object));
    if (kind == "Deployment" || kind == "Job" || kind == "Pod")
        manifests.deployments.push_back(deployment_of(object));
}

}  // namespace

Manifests read_manifests(const std::vector<std::string>& files) {
    std::vector<json::value> objects;
    for (const auto& file : files) {
        for (const auto& document : documents_of(file)) {
            if (!document.is_object()) continue;
            const auto identity = identity_of(document.get_object());
            const auto known = std::ranges::find_if(
                objects, [&](const auto& other) { return identity_of(other.get_object()) == identity; });
            if (known == objects.end()) {
                objects.push_back(document);
            } else {
                lay_over(*known, document);
            }
        }
    }
    Manifests manifests;
    for (const auto& object : objects) add(manifests, object.get_object());
    return manifests;
}

}  // namespace simulation
