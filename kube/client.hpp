// Typed access to the Kubernetes API: thin templates over an untyped core. Writes are creates, patches,
// deletes and evictions; PUT does not exist here, so fields that we don't know survive.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "api/json.hpp"
#include "api/meta.hpp"
#include "base/clock.hpp"
#include "base/http.hpp"
#include "base/metrics.hpp"

namespace kube {

namespace asio = boost::asio;
namespace json = boost::json;
using api::ObjectKey;

// A refusal by the API server (metav1.Status). Which verb on which object is part of what().
class ApiError : public std::runtime_error {
public:
    ApiError(const std::string& what, int code, std::string reason, std::string message);
    int code;
    std::string reason;   // metav1.StatusReason: Conflict, AlreadyExists, Forbidden, Invalid, Expired, ...
    std::string message;  // the server's own text
    std::optional<base::Duration> retry_after;
    std::vector<api::StatusCause> causes;

    bool is_conflict() const { return code == 409 && reason != "AlreadyExists"; }
    bool is_already_exists() const { return code == 409 && reason == "AlreadyExists"; }
    bool is_not_found() const { return code == 404; }
    bool is_forbidden() const { return code == 403; }
    bool is_expired() const { return code == 410; }
    // How long the server asks to be left alone, five minutes at most; zero: it does not.
    base::Duration pause_wanted() const;
    // An admission webhook refused the request, with any status that its author chose.
    bool is_denial() const { return message.starts_with("admission webhook "); }
};

struct Patch {
    enum class Type { merge, json, apply };
    Type type = Type::merge;
    json::value body;
};

// The smallest merge patch (RFC 7386) that turns `before` into `after`; nullopt if they are equal.
// A patch that touches a list, or must not overtake another writer, is made with lock =
// Lock::resource_version.
enum class Lock { none, resource_version };
std::optional<Patch> make_difference(json::object patch, const std::string& resource_version, Lock lock);
template <api::Kind T>
std::optional<Patch> difference(const T& before, const T& after, Lock lock) {
    return make_difference(api::merge_patch(before, after), before.metadata.resourceVersion, lock);
}

struct Preconditions {
    std::optional<std::string> uid;
    std::optional<std::string> resource_version;
};

struct ListOptions {
    std::string namespace_;  // empty: all namespaces
    std::string label_selector;
    std::string field_selector;
};

struct Evicted {};
struct PodNotFound {};
struct BlockedByBudget {
    std::string message;  // the server's: which budget, how many may be disrupted
    std::optional<base::Duration> retry_after;
    std::vector<api::StatusCause> causes;  // each names a budget and its numbers
    bool has_several_budgets = false;      // which the eviction API refuses until a person changes that
};
using EvictResult = std::variant<Evicted, PodNotFound, BlockedByBudget>;

// One page of a list: items not yet decoded.
struct ListPage {
    json::array items;
    std::string resource_version;
    std::string continue_token;  // empty: the last page
};

// Takes the items of a list, page by page. Must outlive the call.
class ListSink {
public:
    virtual ~ListSink() = default;
    // The pages expired half-way: the list begins anew.
    virtual void restart() = 0;
    // Not yet decoded.
    virtual void take(const json::value& item) = 0;
};

// Every call ends within 30 s. A refusal for load (429, or 503 to a read) with Retry-After is waited for and
// tried again, at most three times. Throws base::TransportError, ApiError, or std::runtime_error for an
// answer that cannot be decoded. Cancelling is safe and leaves the effect of a write unknown.
class Client {
public:
    // Takes the transport that authenticates each request. `max_in_flight` bounds concurrent calls.
    Client(std::unique_ptr<base::HttpTransport> transport, base::Clock& clock, base::MetricsRegistry& metrics,
           std::size_t max_in_flight = 32);
    ~Client();

    // nullopt: there is no such object.
    template <api::Kind T>
    asio::awaitable<std::optional<T>> get(ObjectKey key);
    // All pages, read anew from the start if they expire half-way.
    template <api::Kind T>
    asio::awaitable<std::vector<T>> list(ListOptions options);
    // Throws ApiError (is_already_exists) if the name is taken.
    template <api::Kind T>
    asio::awaitable<T> create(T object);
    // Return the object as the server has it now; ApiError if it is gone (404) or changed meanwhile (409).
    template <api::Kind T>
    asio::awaitable<T> patch(ObjectKey key, Patch patch);
    template <api::Kind T>
    asio::awaitable<T> patch_status(ObjectKey key, Patch patch);
    // False: it was not there. ApiError 409 if a precondition does not hold.
    template <api::Kind T>
    asio::awaitable<bool> remove(ObjectKey key, Preconditions preconditions = {});
    // policy/v1 Eviction. `grace` nullopt: the pod's own. Another pod of that name counts as not found.
    asio::awaitable<EvictResult> evict(ObjectKey pod, std::string uid,
                                       std::optional<std::chrono::seconds> grace);

    // The untyped core, for kinds that have no struct and for the templates above.
    asio::awaitable<json::value> call(std::string method, std::string target, std::optional<json::value> body,
                                      std::string content_type = "application/json");
    asio::awaitable<std::optional<json::value>> get_json(std::string target);
    asio::awaitable<json::value> patch_json(std::string target, Patch patch);
    asio::awaitable<bool> remove_json(std::string target, Preconditions preconditions);
    asio::awaitable<ListPage> list_page(api::Resource resource, ListOptions options,
                                        std::string continue_token);
    // All pages, read anew from the start if they expire half-way.
    asio::awaitable<void> list_into(api::Resource resource, ListOptions options, ListSink& sink);
    // A watch or streamed list; the caller checks head().status (see error_of).
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(std::string target, base::Duration idle_timeout);

    base::MetricsRegistry& metrics();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// /api/v1/namespaces/x/pods/y or /apis/group/version/...; an empty name gives the collection.
std::string path_of(const api::Resource& resource, const ObjectKey& key, std::string_view subresource = {});
// The path of the collection with its selectors; `parameters` are added as they are: "limit=500&watch=1".
std::string list_target(const api::Resource& resource, const ListOptions& options,
                        std::string_view parameters);
// What a response with a status of 400 or more says. `subject`: "GET /api/v1/pods".
ApiError error_of(const std::string& subject, const base::HttpResponse& response);
ApiError error_of(const std::string& subject, const api::Status& status);

// ---- how the templates do it

// A document that does not fit the type, with the object that it came from.
template <class T>
T decode_answer(const json::value& document, const std::string& subject) {
    try {
        return api::decode<T>(document);
    } catch (const api::DecodeError& error) {
        throw std::runtime_error(subject + ": cannot decode the answer: " + error.what());
    }
}

template <api::Kind T>
struct Decoded final : ListSink {
    explicit Decoded(std::string of) : subject(std::move(of)) {}
    void restart() override { objects.clear(); }
    void take(const json::value& item) override { objects.push_back(decode_answer<T>(item, subject)); }

    std::string subject;
    std::vector<T> objects;
};

template <api::Kind T>
asio::awaitable<std::optional<T>> Client::get(ObjectKey key) {
    auto target = path_of(T::kResource, key);
    auto document = co_await get_json(target);
    if (!document) co_return std::nullopt;
    co_return decode_answer<T>(*document, "GET " + target);
}

template <api::Kind T>
asio::awaitable<std::vector<T>> Client::list(ListOptions options) {
    Decoded<T> decoded("GET " + path_of(T::kResource, {options.namespace_, ""}));
    co_await list_into(T::kResource, std::move(options), decoded);
    co_return std::move(decoded.objects);
}

template <api::Kind T>
asio::awaitable<T> Client::create(T object) {
    auto target = path_of(T::kResource, {object.metadata.namespace_, ""});
    std::optional<json::value> body = api::encode(object);
    auto document = co_await call("POST", target, std::move(body));
    co_return decode_answer<T>(document, "POST " + target);
}

template <api::Kind T>
asio::awaitable<T> Client::patch(ObjectKey key, Patch patch) {
    auto target = path_of(T::kResource, key);
    auto document = co_await patch_json(target, std::move(patch));
    co_return decode_answer<T>(document, "PATCH " + target);
}

template <api::Kind T>
asio::awaitable<T> Client::patch_status(ObjectKey key, Patch patch) {
    auto target = path_of(T::kResource, key, "status");
    auto document = co_await patch_json(target, std::move(patch));
    co_return decode_answer<T>(document, "PATCH " + target);
}

template <api::Kind T>
asio::awaitable<bool> Client::remove(ObjectKey key, Preconditions preconditions) {
    return remove_json(path_of(T::kResource, key), std::move(preconditions));
}

}  // namespace kube
