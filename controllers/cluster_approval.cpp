#include "controllers/cluster_approval.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/log.hpp"
#include "bootstrap/approval.hpp"

namespace controllers {

namespace json = boost::json;

namespace {

constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

// The question that the controller manager's csrapproving controller asks about who asks for a Node's first
// certificate, for a token that does not exist.
json::value review() {
    return json::object{
        {"apiVersion", "authorization.k8s.io/v1"},
        {"kind", "SubjectAccessReview"},
        {"spec", json::object{{"user", "system:bootstrap:000000"},
                              {"groups", json::array{"system:bootstrappers", bootstrap::kTokenGroup,
                                                     "system:authenticated"}},
                              {"resourceAttributes", json::object{{"group", "certificates.k8s.io"},
                                                                  {"resource", "certificatesigningrequests"},
                                                                  {"subresource", "nodeclient"},
                                                                  {"verb", "create"}}}}}};
}

std::optional<bool> allowed(const json::value& answer) {
    const auto* status = answer.is_object() ? answer.get_object().if_contains("status") : nullptr;
    const auto* allowed =
        status && status->is_object() ? status->get_object().if_contains("allowed") : nullptr;
    if (!allowed || !allowed->is_bool()) return std::nullopt;
    return allowed->get_bool();
}

}  // namespace

asio::awaitable<std::optional<bool>> ClusterApproval::ask() {
    if (asked_ && clock_.now() - *asked_ < kAskedEvery) co_return answer_;
    std::optional<json::value> body = review();
    std::string refusal;
    try {
        const auto answer = co_await client_.call("POST", kReviews, std::move(body));
        answer_ = allowed(answer);
    } catch (const kube::ApiError& error) {
        answer_.reset();
        refusal = error.what();
    }
    asked_ = clock_.now();
    if (!refusal.empty())
        base::log::warning("Cannot find out for whom the cluster approves certificates",
                           {{"error", refusal}});
    co_return answer_;
}

}  // namespace controllers
