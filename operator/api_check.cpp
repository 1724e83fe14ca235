#include "operator/api_check.hpp"

#include <boost/json/value.hpp>
#include <set>

#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace kubenodesmith {
namespace {

const std::string kInstall =
    "install them: make install, or helm show crds CHART | kubectl apply --server-side --force-conflicts -f "
    "-";

// Returns an empty text if nothing is missing.
kube::asio::awaitable<std::string> problem(kube::Client& client) {
    const std::string target = "/apis/" + std::string(api::kGroup) + "/" + std::string(api::kVersion);
    std::string message;
    try {
        auto list = co_await client.call("GET", target, std::nullopt);
        auto missing = missing_kinds(list);
        if (!missing.empty())
            message = "the CRDs of KubeNodeSmith (missing: " + base::joined(missing) + "); " + kInstall;
    } catch (const kube::ApiError& error) {
        message = error.is_not_found()
                      ? "the CRDs of KubeNodeSmith (none is installed); " + kInstall
                      : "the API server to accept the operator: " + std::string(error.what());
    } catch (const base::TransportError& error) {
        message = "the API server: " + std::string(error.what());
    }
    co_return message;
}

}  // namespace

std::vector<std::string> missing_kinds(const kube::json::value& resource_list) {
    using namespace api::v1alpha1;
    std::set<std::string> missing{
        std::string(NodeSmithProvider::kResource.plural), std::string(NodeSmithHost::kResource.plural),
        std::string(NodeSmithPool::kResource.plural), std::string(NodeSmithClaim::kResource.plural),
        std::string(NodeSmithControlPlane::kResource.plural)};
    const auto* object = resource_list.if_object();
    const auto* resources = object ? object->if_contains("resources") : nullptr;
    if (resources && resources->is_array()) {
        for (const auto& entry : resources->get_array()) {
            const auto* resource = entry.if_object();
            const auto* name = resource ? resource->if_contains("name") : nullptr;
            if (name && name->is_string()) missing.erase(std::string(name->get_string()));
        }
    }
    return {missing.begin(), missing.end()};
}

kube::asio::awaitable<void> wait_for_api(kube::Client& client, base::Clock& clock,
                                         std::function<void(const std::string&)> waiting) {
    const base::Backoff backoff{std::chrono::seconds{2}, std::chrono::seconds{30}};
    std::string said;
    for (int failures = 1;; ++failures) {
        auto message = co_await problem(client);
        if (message.empty()) co_return;
        waiting(message);
        if (message != said) base::log::warning("Waiting", {{"for", message}});
        said = message;
        co_await clock.sleep_for(backoff.after(failures));
    }
}

}  // namespace kubenodesmith
