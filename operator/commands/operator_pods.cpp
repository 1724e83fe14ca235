#include "operator/commands/operator_pods.hpp"

#include <boost/json/value.hpp>

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

OperatorDeployment deployment_of(const json::value& document) {
    return {{text_at(document, "/metadata/namespace"), text_at(document, "/metadata/name")},
            text_at(document, "/spec/template/spec/containers/0/image"),
            text_at(document, "/spec/template/spec/serviceAccountName"),
            number_at(document, "/spec/replicas"),
            number_at(document, "/status/availableReplicas")};
}

}  // namespace

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
