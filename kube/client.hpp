// Typed access to the Kubernetes API: thin templates over an untyped core. Writes are creates, patches,
// deletes and evictions. There is no PUT, so unknown fields survive.
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
#include "api/names.hpp"
#include "api/size.hpp"
#include "api/stream.hpp"
#include "base/clock.hpp"
#include "base/http.hpp"
#include "base/interface.hpp"
#include "base/metrics.hpp"
#include "kube/api_error.hpp"
#include "kube/paths.hpp"

namespace kube {

namespace asio = boost::asio;
namespace json = boost::json;
using api::ObjectKey;

// UndecodableError means that the object exists but does not match its type here.
class UndecodableError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Patch {
    enum class Type { merge, json, apply };
    Type type = Type::merge;
    json::value body;
};

// Returns the smallest merge patch (RFC 7386) that turns `before` into `after`; nullopt if they are equal.
// Use Lock::resource_version if a patch changes a list or must not overwrite another writer's change.
enum class Lock { none, resource_version };
std::optional<Patch> make_difference(json::object patch, const std::string& resource_version, Lock lock);
template <api::Kind T>
std::optional<Patch> difference(const T& before, const T& after, Lock lock) {
    return make_difference(api::merge_patch(before, after), before.metadata.resourceVersion, lock);
}

struct Evicted {};
struct PodNotFound {};
struct BlockedByBudget {
    std::string message;  // the server's text: which budget, how many may be disrupted
    std::optional<base::Duration> retry_after;
    std::vector<api::StatusCause> causes;  // each has a budget and its numbers
    bool has_several_budgets = false;      // the eviction API refuses this until a person changes it
};
using EvictResult = std::variant<Evicted, PodNotFound, BlockedByBudget>;

// Undecodable is an object that does not match its type here. It has all fields that could be read, and the
// error of the rest. The object exists, so the operator must not remove anything because of it.
template <api::Kind T>
struct Undecodable {
    T rest;
    std::string error;
};

template <api::Kind T>
struct Listed {
    std::vector<T> objects;
    std::vector<Undecodable<T>> undecodable;

    // Returns all of them. Each exists, but the content of an undecodable one may be wrong.
    std::vector<const T*> existing() const {
        std::vector<const T*> all;
        for (const auto& object : objects) all.push_back(&object);
        for (const auto& each : undecodable) all.push_back(&each.rest);
        return all;
    }
};

// PageReader reads one page of a list as its bytes arrive.
class PageReader : public base::Interface {
public:
    // These throw if it is not a list of the expected kind.
    virtual void consume(std::string_view bytes) = 0;
    virtual api::ListMeta finish() = 0;
};

// ListSink takes the items of a list, page by page. Must outlive the call.
class ListSink {
public:
    virtual ~ListSink() = default;
    // Called if the pages expired half-way; the list begins anew.
    virtual void restart() = 0;
    virtual std::unique_ptr<PageReader> read_page() = 0;
};

// Client makes calls that end within 30 s. An overloaded server may refuse a call (429, or 503 to a read)
// with Retry-After. The call then waits and retries, at most three times. Throws base::TransportError,
// ApiError, UndecodableError, or std::runtime_error for an invalid answer. Cancelling is safe; the effect of
// a cancelled write is unknown.
class Client {
public:
    // Takes a transport that authenticates each request. `max_in_flight` limits concurrent calls, except
    // those about Leases.
    Client(std::unique_ptr<base::HttpTransport> transport, base::Clock& clock, base::MetricsRegistry& metrics,
           std::size_t max_in_flight = 32);
    ~Client();

    // Returns nullopt if there is no such object.
    template <api::Kind T>
    asio::awaitable<std::optional<T>> get(ObjectKey key);
    // Reads all pages, and starts anew if they expire half-way. Foreign objects are cut to
    // api::most_of().
    template <api::Kind T>
    asio::awaitable<Listed<T>> list(ListOptions options);
    // Throws ApiError (is_already_exists) if the name is taken.
    template <api::Kind T>
    asio::awaitable<T> create(T object);
    // These return the object as the server has it now. They throw ApiError if it is gone (404) or changed
    // meanwhile (409).
    template <api::Kind T>
    asio::awaitable<T> patch(ObjectKey key, Patch patch);
    template <api::Kind T>
    asio::awaitable<T> patch_status(ObjectKey key, Patch patch);
    // Returns false if it did not exist. Throws ApiError 409 if a precondition fails.
    template <api::Kind T>
    asio::awaitable<bool> remove(ObjectKey key, api::Preconditions preconditions = {});
    // Creates a policy/v1 Eviction. `grace` nullopt uses the pod's own. Another pod with that name counts as
    // not found.
    asio::awaitable<EvictResult> evict(ObjectKey pod, std::string uid,
                                       std::optional<std::chrono::seconds> grace);

    // The untyped core, for kinds that have no struct and for the templates above.
    asio::awaitable<json::value> call(std::string method, std::string target, std::optional<json::value> body,
                                      std::string content_type = "application/json");
    asio::awaitable<std::optional<json::value>> get_json(std::string target);
    asio::awaitable<json::value> patch_json(std::string target, Patch patch);
    asio::awaitable<bool> remove_json(std::string target, api::Preconditions preconditions);
    // These return answers as text, not yet parsed.
    asio::awaitable<std::string> call_text(std::string method, std::string target,
                                           std::optional<json::value> body, std::string content_type);
    asio::awaitable<std::optional<std::string>> get_text(std::string target);
    asio::awaitable<std::string> patch_text(std::string target, Patch patch);
    // Reads all pages, and starts anew if they expire half-way.
    asio::awaitable<void> list_into(api::Resource resource, ListOptions options, ListSink& sink);
    // Opens a watch or streamed list. The caller must check head().status (see error_of).
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(std::string target, base::Duration idle_timeout);

    base::MetricsRegistry& metrics();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// ---- implementation of the templates

// Decodes a document. Its error names the request that it came from.
template <class T>
T decode_answer(const json::value& document, const std::string& subject) {
    try {
        return api::decode<T>(document);
    } catch (const api::DecodeError& error) {
        throw UndecodableError(subject + ": cannot decode the answer: " + error.what());
    }
}

template <class T>
T decode_body(std::string_view text, const std::string& subject) {
    try {
        return api::decode_text<T>(text);
    } catch (const api::DecodeError& error) {
        throw UndecodableError(subject + ": cannot decode the answer: " + error.what());
    } catch (const api::ParseError& error) {
        throw std::runtime_error(subject + ": cannot read the answer: " + error.what());
    }
}

// DecodedPage passes each item of a page to one of its two callbacks.
template <api::Kind T>
class DecodedPage final : public PageReader {
public:
    using Decoder = api::ListDecoder<T>;
    DecodedPage(typename Decoder::OnItem on_item, typename Decoder::OnMisfit on_misfit)
        : decoder_(std::move(on_item), std::move(on_misfit)) {}
    void consume(std::string_view bytes) override { decoder_.write(bytes); }
    api::ListMeta finish() override {
        auto list = decoder_.finish();
        // An answer of another kind must not look like an empty list.
        if (list.resourceVersion.empty()) throw std::runtime_error("it is not a list");
        return list;
    }

private:
    Decoder decoder_;
};

template <api::Kind T>
struct ListedSink final : ListSink {
    void restart() override { listed = {}; }
    std::unique_ptr<PageReader> read_page() override {
        return std::make_unique<DecodedPage<T>>(
            [this](T&& item) { listed.objects.push_back(bounded(std::move(item))); },
            [this](T&& rest, const api::DecodeError& error) {
                listed.undecodable.push_back({bounded(std::move(rest)), error.what()});
            });
    }

    static T bounded(T&& item) {
        if constexpr (T::kResource.group == api::kGroup)
            api::forget_of_others(item.metadata);
        else
            api::shorten(item, api::most_of<T>());
        return std::move(item);
    }

    Listed<T> listed;
};

template <api::Kind T>
asio::awaitable<std::optional<T>> Client::get(ObjectKey key) {
    auto target = path_of(T::kResource, key);
    auto answer = co_await get_text(target);
    if (!answer) co_return std::nullopt;
    co_return decode_body<T>(*answer, "GET " + target);
}

template <api::Kind T>
asio::awaitable<Listed<T>> Client::list(ListOptions options) {
    ListedSink<T> sink;
    co_await list_into(T::kResource, std::move(options), sink);
    co_return std::move(sink.listed);
}

template <api::Kind T>
asio::awaitable<T> Client::create(T object) {
    auto target = path_of(T::kResource, {object.metadata.namespace_, ""});
    std::optional<json::value> body = api::encode(object);
    auto answer = co_await call_text("POST", target, std::move(body), "application/json");
    co_return decode_body<T>(answer, "POST " + target);
}

template <api::Kind T>
asio::awaitable<T> Client::patch(ObjectKey key, Patch patch) {
    auto target = path_of(T::kResource, key);
    auto answer = co_await patch_text(target, std::move(patch));
    co_return decode_body<T>(answer, "PATCH " + target);
}

template <api::Kind T>
asio::awaitable<T> Client::patch_status(ObjectKey key, Patch patch) {
    auto target = path_of(T::kResource, key, "status");
    auto answer = co_await patch_text(target, std::move(patch));
    co_return decode_body<T>(answer, "PATCH " + target);
}

template <api::Kind T>
asio::awaitable<bool> Client::remove(ObjectKey key, api::Preconditions preconditions) {
    return remove_json(path_of(T::kResource, key), std::move(preconditions));
}

}  // namespace kube
