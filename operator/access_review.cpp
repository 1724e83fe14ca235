#include "operator/access_review.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/json/object.hpp>
#include <memory>

namespace kubenodesmith {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// Strangers must not take the connections that the operator works with.
constexpr int kMostAtATime = 8;
constexpr std::string_view kBearer = "Bearer ";

base::HttpResponse refusal(int status, std::string why) {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    if (status == 401) response.headers.set("WWW-Authenticate", "Bearer");
    response.body = std::move(why) + "\n";
    return response;
}

// Empty: there is none.
std::string bearer_token(const base::HttpRequest& request) {
    const auto header = request.headers.find("Authorization");
    if (!header || !boost::beast::iequals(header->substr(0, kBearer.size()), kBearer)) return {};
    return std::string(header->substr(kBearer.size()));
}

json::object token_review(std::string token) {
    return {{"apiVersion", "authentication.k8s.io/v1"},
            {"kind", "TokenReview"},
            {"spec", json::object{{"token", std::move(token)}}}};
}

// `user`: what a TokenReview says of one.
json::object access_review(const json::object& user, const base::HttpRequest& request) {
    json::object spec{
        {"nonResourceAttributes", json::object{{"path", request.target.substr(0, request.target.find('?'))},
                                               {"verb", request.method == "HEAD" ? "head" : "get"}}}};
    if (const auto* name = user.if_contains("username")) spec["user"] = *name;
    for (const char* key : {"uid", "groups", "extra"}) {
        if (const auto* value = user.if_contains(key)) spec[key] = *value;
    }
    return {{"apiVersion", "authorization.k8s.io/v1"},
            {"kind", "SubjectAccessReview"},
            {"spec", std::move(spec)}};
}

bool says_yes(const json::object& status, const char* key) {
    const auto* value = status.if_contains(key);
    return value && value->is_bool() && value->get_bool();
}

class Guard {
public:
    Guard(base::HttpHandler inner, kube::Client& client) : inner_(std::move(inner)), client_(client) {}

    asio::awaitable<base::HttpResponse> answer(base::HttpRequest request) {
        auto token = bearer_token(request);
        if (token.empty()) co_return refusal(401, "give a bearer token");
        if (asking_ >= kMostAtATime) co_return refusal(429, "too many requests at a time");
        const Asking asking(asking_);
        auto who = token_review(std::move(token));
        const auto identity = co_await ask("/apis/authentication.k8s.io/v1/tokenreviews", std::move(who));
        const auto* user = identity.if_contains("user");
        if (!says_yes(identity, "authenticated") || !user || !user->is_object()) {
            co_return refusal(401, "the API server does not know this token");
        }
        auto what = access_review(user->get_object(), request);
        const auto verdict =
            co_await ask("/apis/authorization.k8s.io/v1/subjectaccessreviews", std::move(what));
        if (!says_yes(verdict, "allowed")) co_return refusal(403, "this user may not get this path");
        co_return co_await inner_(std::move(request));
    }

private:
    struct Asking {
        explicit Asking(int& count) : count_(count) { ++count_; }
        ~Asking() { --count_; }
        Asking(const Asking&) = delete;
        Asking& operator=(const Asking&) = delete;
        int& count_;
    };

    // The status of the review. A review is an answer, not an object: to ask again changes nothing.
    asio::awaitable<json::object> ask(std::string path, json::object review) {
        auto answer = co_await client_.call("POST", std::move(path), json::value(std::move(review)));
        auto* status = answer.is_object() ? answer.get_object().if_contains("status") : nullptr;
        co_return status && status->is_object() ? status->get_object() : json::object();
    }

    base::HttpHandler inner_;
    kube::Client& client_;
    int asking_ = 0;
};

}  // namespace

base::HttpHandler guarded(base::HttpHandler inner, kube::Client& client) {
    auto guard = std::make_shared<Guard>(std::move(inner), client);
    return [guard](base::HttpRequest request) { return guard->answer(std::move(request)); };
}

}  // namespace kubenodesmith
