#include "operator/access_review.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "base/gate.hpp"
#include "base/sha256.hpp"

namespace kubenodesmith {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// Limit of concurrent reviews for unknown callers, and separately for callers that were allowed before. So no
// caller can use up the operator's connections.
constexpr std::size_t kMostAtATime = 4;
constexpr std::string_view kBearer = "Bearer ";

base::HttpResponse refusal(int status, std::string why) {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    if (status == 401) response.headers.set("WWW-Authenticate", "Bearer");
    response.body = std::move(why) + "\n";
    return response;
}

// Returns an empty text if there is no token.
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

// RequestedAccess is an action that a caller requests, as in RBAC rules for non-resource URLs.
struct RequestedAccess {
    std::string verb;
    std::string path;
};

RequestedAccess wish_of(const base::HttpRequest& request) {
    return {request.method == "HEAD" ? "head" : "get", request.target.substr(0, request.target.find('?'))};
}

// Builds a SubjectAccessReview for the user in a TokenReview.
json::object access_review(const json::object& user, const RequestedAccess& wish) {
    json::object spec{{"nonResourceAttributes", json::object{{"path", wish.path}, {"verb", wish.verb}}}};
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
    Guard(base::HttpHandler inner, kube::Client& client, asio::any_io_executor executor, base::Clock& clock)
        : inner_(std::move(inner)),
          client_(client),
          clock_(clock),
          reviews_(std::move(executor), kMostAtATime) {}

    asio::awaitable<base::HttpResponse> answer(base::HttpRequest request) {
        auto token = bearer_token(request);
        if (token.empty()) co_return refusal(401, "a bearer token is required");
        const auto wish = wish_of(request);
        const auto verdict = co_await verdict_on(std::move(token), wish);
        if (verdict == AccessVerdict::kUnknownToken)
            co_return refusal(401, "the API server does not know this token");
        if (verdict == AccessVerdict::kForbidden) co_return refusal(403, "this user may not get this path");
        co_return co_await inner_(std::move(request));
    }

    bool was_allowed(const base::HttpRequest& request) const {
        const auto wish = wish_of(request);
        return verdicts_.was_allowed(Verdicts::key_of(bearer_token(request), wish.verb, wish.path));
    }

private:
    asio::awaitable<AccessVerdict> verdict_on(std::string token, const RequestedAccess& wish) {
        const auto key = Verdicts::key_of(token, wish.verb, wish.path);
        if (const auto known = verdicts_.find(key, clock_.now())) co_return *known;
        std::string queue = verdicts_.was_allowed(key) ? "known" : "stranger";
        const auto pass = co_await reviews_.enter(std::move(queue));
        // Another request with the same token may have been answered meanwhile.
        if (const auto known = verdicts_.find(key, clock_.now())) co_return *known;
        const auto verdict = co_await review(std::move(token), wish);
        verdicts_.remember(key, verdict, clock_.now());
        co_return verdict;
    }

    asio::awaitable<AccessVerdict> review(std::string token, const RequestedAccess& wish) {
        auto who = token_review(std::move(token));
        const auto identity = co_await ask("/apis/authentication.k8s.io/v1/tokenreviews", std::move(who));
        const auto* user = identity.if_contains("user");
        if (!says_yes(identity, "authenticated") || !user || !user->is_object())
            co_return AccessVerdict::kUnknownToken;
        auto what = access_review(user->get_object(), wish);
        const auto answer =
            co_await ask("/apis/authorization.k8s.io/v1/subjectaccessreviews", std::move(what));
        co_return says_yes(answer, "allowed") ? AccessVerdict::kAllowed : AccessVerdict::kForbidden;
    }

    // Returns the status of the review. A review changes nothing, so it may be repeated.
    asio::awaitable<json::object> ask(std::string path, json::object review) {
        auto answer = co_await client_.call("POST", std::move(path), json::value(std::move(review)));
        auto* status = answer.is_object() ? answer.get_object().if_contains("status") : nullptr;
        co_return status && status->is_object() ? status->get_object() : json::object();
    }

    base::HttpHandler inner_;
    kube::Client& client_;
    base::Clock& clock_;
    Verdicts verdicts_;
    base::Gate reviews_;
};

}  // namespace

GuardedPage guarded(base::HttpHandler inner, kube::Client& client, asio::any_io_executor executor,
                    base::Clock& clock) {
    auto guard = std::make_shared<Guard>(std::move(inner), client, std::move(executor), clock);
    return {[guard](base::HttpRequest request) { return guard->answer(std::move(request)); },
            [guard](const base::HttpRequest& request) { return guard->was_allowed(request); }};
}

Verdicts::Key Verdicts::key_of(std::string_view token, std::string_view verb, std::string_view path) {
    const auto digest = base::sha256(token);
    std::string text(digest.begin(), digest.end());
    text.append(verb).append(1, ' ').append(path);
    return base::sha256(text);
}

std::optional<AccessVerdict> Verdicts::find(const Key& key, base::TimePoint now) const {
    for (const auto* book : {&allowed_, &refused_}) {
        const auto* entry = book->find(key);
        if (entry && now < entry->until) return entry->verdict;
    }
    return std::nullopt;
}

void Verdicts::remember(const Key& key, AccessVerdict verdict, base::TimePoint now) {
    const bool allowed = verdict == AccessVerdict::kAllowed;
    (allowed ? refused_ : allowed_).erase(key);
    (allowed ? allowed_ : refused_).put({key, verdict, now + (allowed ? kAllowedFor : kRefusedFor)});
}

const Verdicts::Entry* Verdicts::Book::find(const Key& key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &*found->second;
}

void Verdicts::Book::put(Entry entry) {
    erase(entry.key);
    if (entries_.size() >= most_) erase(Key(entries_.front().key));
    const auto key = entry.key;
    index_[key] = entries_.insert(entries_.end(), std::move(entry));
}

void Verdicts::Book::erase(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    entries_.erase(found->second);
    index_.erase(found);
}

}  // namespace kubenodesmith
