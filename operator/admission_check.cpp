#include "operator/admission_check.hpp"

#include <boost/json/object.hpp>
#include <boost/system/system_error.hpp>
#include <optional>
#include <string_view>

#include "base/log.hpp"

namespace kubenodesmith {
namespace {

constexpr base::Duration kLookAgain = std::chrono::hours{1};
constexpr base::Duration kRetry = std::chrono::minutes{1};
// An API server applies a new policy some seconds after its creation. The policy and the operator may be
// installed together.
constexpr base::Duration kUntilHeeded = std::chrono::seconds{20};
const std::string kTarget = "/api/v1/namespaces/kube-system/secrets?dryRun=All";

constexpr std::string_view kNotInstalled =
    "The admission policies do not protect this operator: they are not installed (config/admission, chart "
    "value admissionPolicies; Kubernetes 1.30 on) or name another ServiceAccount. Anyone who may write the "
    "status of KubeNodeSmith's objects can mislead the operator";

kube::json::object forbidden_secret() {
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"type", "Opaque"},
            {"metadata", kube::json::object{{"name", "kubenodesmith-admission-check"}}}};
}

// Returns nullopt if it is unclear.
kube::asio::awaitable<std::optional<bool>> are_installed(kube::Client& client) {
    std::string failure;
    try {
        co_await client.call("POST", kTarget, kube::json::value(forbidden_secret()));
        co_return false;
    } catch (const kube::ApiError& error) {
        if (is_policy_refusal(error)) co_return true;
        failure = error.what();
    } catch (const boost::system::system_error&) {
        throw;  // this process itself is being cancelled
    } catch (const std::exception& error) {
        failure = error.what();
    }
    base::log::debug("Cannot tell whether the admission policies are installed", {{"error", failure}});
    co_return std::nullopt;
}

void say(bool installed) {
    if (installed) {
        base::log::info("The admission policies are installed");
        return;
    }
    base::log::warning(kNotInstalled);
}

}  // namespace

bool is_policy_refusal(const kube::ApiError& error) {
    return std::string_view(error.what()).find("ValidatingAdmissionPolicy") != std::string_view::npos;
}

kube::asio::awaitable<void> watch_admission_policies(kube::Client& client, base::Clock& clock) {
    std::optional<bool> known;
    while (true) {
        auto installed = co_await are_installed(client);
        if (installed == false && known != false) {
            co_await clock.sleep_for(kUntilHeeded);
            installed = co_await are_installed(client);
        }
        if (installed) {
            client.metrics()
                .gauge("kubenodesmith_admission_policies_installed",
                       "1 if the admission policies protect this operator, 0 if they do not.", {})
                .with({})
                .set(*installed ? 1 : 0);
        }
        if (installed && installed != known) say(*installed);
        if (installed) known = installed;
        const auto pause = installed ? kLookAgain : kRetry;
        co_await clock.sleep_for(pause);
    }
}

}  // namespace kubenodesmith
