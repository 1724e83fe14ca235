#include "operator/commands/operator_pods.hpp"

#include <algorithm>
#include <stdexcept>

#include "operator/options/options.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

std::string text_at(const json::value& document, const char* pointer) {
    boost::system::error_code absent;
    const auto* found = document.find_pointer(pointer, absent);
    return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::int64_t number_at(const json::value& document, const char* pointer) {
    boost::system::error_code absent;
    const auto* found = document.find_pointer(pointer, absent);
    return found && found->is_int64() ? found->get_int64() : 0;
}

// Returns the options with which the Deployment runs the operator.
Options options_of(const json::value& document) {
    std::vector<std::string> words{"kubenodesmith"};
    boost::system::error_code absent;
    const auto* args = document.find_pointer("/spec/template/spec/containers/0/args", absent);
    if (args && args->is_array())
        for (const auto& word : args->get_array())
            if (word.is_string()) words.emplace_back(word.get_string());
    std::vector<const char*> argv;
    for (const auto& word : words) argv.push_back(word.c_str());
    return parse_command_line(static_cast<int>(argv.size()), argv.data(), {}).options;
}

// Returns the namespaces that the operator manages. By default it is only the one in which it runs.
controllers::ManagedNamespaces managed_by(const Options& options, const std::string& namespace_) {
    try {
        if (!options.namespaces.empty()) return controllers::ManagedNamespaces(options.namespaces);
    } catch (const std::invalid_argument&) {  // The operator refuses these flags, too, and manages nothing.
    }
    return controllers::ManagedNamespaces({namespace_});
}

}  // namespace

OperatorDeployment deployment_of(const json::value& document) {
    OperatorDeployment found;
    found.key = {text_at(document, "/metadata/namespace"), text_at(document, "/metadata/name")};
    found.image = text_at(document, "/spec/template/spec/containers/0/image");
    found.service_account = text_at(document, "/spec/template/spec/serviceAccountName");
    found.replicas = number_at(document, "/spec/replicas");
    found.available = number_at(document, "/status/availableReplicas");
    const auto options = options_of(document);
    const auto& chosen = options.leader_election_namespace;
    found.elects_leader = options.leader_elect;
    found.lease = {chosen.empty() ? found.key.namespace_ : chosen, options.leader_election_id};
    found.managed = managed_by(options, found.key.namespace_);
    return found;
}

bool overlap(const OperatorDeployment& one, const OperatorDeployment& other) {
    if (one.managed.all() || other.managed.all()) return true;
    return std::ranges::any_of(one.managed.to_list(), [&other](const std::string& namespace_) {
        return other.managed.contains(namespace_);
    });
}

boost::asio::awaitable<std::vector<OperatorDeployment>> find_operators(kube::Client& client) {
    std::vector<OperatorDeployment> found;
    std::optional<json::value> list;
    try {
        list = co_await client.call(
            "GET", "/apis/apps/v1/deployments?labelSelector=app.kubernetes.io%2Fname%3Dkubenodesmith",
            std::nullopt);
    } catch (const kube::ApiError& error) {
        if (!error.is_forbidden()) throw;
    }
    if (!list) co_return found;
    for (const auto& item : list->at("items").as_array()) found.push_back(deployment_of(item));
    co_return found;
}

}  // namespace kubenodesmith
