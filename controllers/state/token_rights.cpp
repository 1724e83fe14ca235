#include "controllers/state/token_rights.hpp"

#include <boost/json/array.hpp>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "bootstrap/approval.hpp"

namespace controllers {

namespace json = boost::json;

namespace {

constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

// Returns the question that the controller manager's csrapproving controller asks about a
// requester of a Node's first certificate.
json::object approval_by_cluster() {
    return {{"group", "certificates.k8s.io"},
            {"resource", "certificatesigningrequests"},
            {"subresource", "nodeclient"},
            {"verb", "create"}};
}

struct TokenRight {
    std::string name;  // for people
    json::object what;
};

// Returns the first access that a join needs to each object of config/rbac/bootstrap.yaml.
std::vector<TokenRight> needs_of_a_join() {
    return {
        {"create certificatesigningrequests",
         {{"group", "certificates.k8s.io"}, {"resource", "certificatesigningrequests"}, {"verb", "create"}}},
        {"get the ConfigMap kube-system/kubeadm-config",
         {{"namespace", "kube-system"},
          {"resource", "configmaps"},
          {"name", "kubeadm-config"},
          {"verb", "get"}}}};
}

// Builds a review for a token that does not exist.
json::value review(json::object what) {
    return json::object{
        {"apiVersion", "authorization.k8s.io/v1"},
        {"kind", "SubjectAccessReview"},
        {"spec", json::object{{"user", "system:bootstrap:000000"},
                              {"groups", json::array{"system:bootstrappers", bootstrap::kTokenGroup,
                                                     "system:authenticated"}},
                              {"resourceAttributes", std::move(what)}}}};
}

std::optional<bool> allowed(const json::value& answer) {
    const auto* status = answer.is_object() ? answer.get_object().if_contains("status") : nullptr;
    const auto* allowed =
        status && status->is_object() ? status->get_object().if_contains("allowed") : nullptr;
    if (!allowed || !allowed->is_bool()) return std::nullopt;
    return allowed->get_bool();
}

}  // namespace

asio::awaitable<std::optional<bool>> TokenRightsReview::may(json::object what) {
    std::optional<json::value> body = review(std::move(what));
    std::string refusal;
    try {
        const auto answer = co_await client_.call("POST", kReviews, std::move(body));
        co_return allowed(answer);
    } catch (const kube::ApiError& error) {
        refusal = error.what();
    }
    base::log::warning("Cannot find out what bootstrap tokens may do", {{"error", refusal}});
    co_return std::nullopt;
}

asio::awaitable<TokenRights> TokenRightsReview::ask() {
    if (asked_ && clock_.now() - *asked_ < ask_after()) co_return rights_;
    TokenRights rights;
    auto nodeclient = approval_by_cluster();
    rights.cluster_approves = co_await may(std::move(nodeclient));
    auto needs = needs_of_a_join();
    // An API server that refuses one question refuses them all.
    if (!rights.cluster_approves) needs.clear();
    for (auto& need : needs) {
        const auto answer = co_await may(std::move(need.what));
        if (answer.value_or(true)) continue;
        rights.forbidden = std::move(need.name);
        break;
    }
    asked_ = clock_.now();
    rights_ = rights;
    co_return rights;
}

}  // namespace controllers
