// A Kubernetes API server in memory. Clients speak to it through base::HttpTransport, as they would to a real
// one. It serves lists with pages, watches with bookmarks and 410, create, patches and the status
// subresource. It also knows finalizers, eviction with budgets, and owner references. It holds objects of any
// kind. The test itself plays the controllers and kubelets (scheduling, the status of budgets, ending pods).
// Only pods can end by themselves, if an option says so.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/json.hpp"
#include "api/meta.hpp"
#include "base/http.hpp"
#include "test/support/fake_api_store.hpp"
#include "test/support/fake_api_target.hpp"

namespace fake {

namespace asio = boost::asio;

// Interference is between one client and the server, to delay, refuse, lose or kill requests. Its exceptions
// reach the client unchanged. A base::TransportError is a lost connection; anything else is a crash of the
// client.
class Interference {
public:
    virtual ~Interference() = default;
    virtual base::Duration delay(const base::HttpRequest&) { return {}; }
    // Runs before the request takes effect. If it returns a response, the client gets that response instead.
    virtual std::optional<base::HttpResponse> before(const base::HttpRequest&) { return std::nullopt; }
    // Runs after the request took effect.
    virtual void after(const base::HttpRequest&, base::HttpResponse&) {}
};

base::HttpResponse status_response(int code, const std::string& reason, const std::string& message,
                                   const json::object& details = {});

// Wraps a complete response as a stream.
std::unique_ptr<base::HttpStream> make_answer(base::HttpResponse response);

class WatchStream;

class ApiServer {
public:
    struct Options {
        // Time from a pod's deletion until it is gone from its node; nullopt: the test ends the pod.
        std::optional<base::Duration> pods_end_after = std::chrono::seconds{1};
        base::Duration watch_delay{};  // delay of events on their way to watches
        // Answer to every SubjectAccessReview. The server does not model RBAC itself.
        bool approves_tokens = false;
        bool tokens_may_join = true;
        // In these namespaces the server serves Secrets and RoleBindings only while a RoleBinding exists.
        std::set<std::string> rights_by_binding;
        int minor = 36;                               // minor version of the Kubernetes version 1.x
        std::vector<api::Resource> custom_resources;  // served at /apis/GROUP/VERSION, for discovery
    };
    ApiServer(asio::any_io_executor executor, base::Clock& clock);
    ApiServer(asio::any_io_executor executor, base::Clock& clock, Options options);
    ~ApiServer();
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;

    // Opens a client's connection. `interference` may be null; otherwise it must outlive the connection.
    std::unique_ptr<base::HttpTransport> connect(Interference* interference = nullptr);
    base::HttpResponse handle(const base::HttpRequest& request);
    std::unique_ptr<WatchStream> watch(const Target& target, const base::HttpRequest& request);

    Store& store() { return store_; }
    base::Clock& clock() { return clock_; }
    asio::any_io_executor executor() { return executor_; }
    Options& options() { return options_; }
    // Restores a backup as administrators do with etcd: the server stops, and starts again with the old data.
    // A watch from a version that the restored server has not reached yet stays open and gets no events.
    void restore(const Store::Backup& backup);
    // Ends every watch, as a restart of the server does.
    void cut_watches();
    // Breaks the connection of every watch, as a load balancer does that ends quiet connections.
    void break_watches();
    // Registers an observer, which is called immediately with every change by anyone. It must not change
    // objects itself.
    void observe(std::function<void(const Change&)> observer) { observers_.push_back(std::move(observer)); }

    struct Access {
        base::TimePoint at;
        std::string method;
        std::string target;
        int status = 0;
    };
    // Returns every access except GETs and reviews, which change nothing.
    const std::vector<Access>& writes() const { return writes_; }
    void log(const base::HttpRequest& request, int status);

    // These functions do what a user does with kubectl, immediately and without HTTP. put() also writes the
    // status. All of them bypass the checks of resourceVersion.
    template <api::Kind T>
    T put(const T& object) {
        auto encoded = api::encode(object).get_object();
        return api::decode<T>(put_json(key<T>(api::key_of(object)), std::move(encoded))->value());
    }
    template <api::Kind T>
    std::optional<T> get(const api::ObjectKey& name) const {
        const auto found = store_.find(key<T>(name));
        if (!found) return std::nullopt;
        return api::decode<T>(found->value());
    }
    // Returns all objects of the kind, except those that cannot be decoded.
    template <api::Kind T>
    std::vector<T> list() const {
        std::vector<T> objects;
        for (const auto& object : store_.list(resource_name(T::kResource), "")) {
            T decoded{};
            auto issues = api::decode_into(object->value(), &decoded, api::type_of<T>());
            if (issues.error) continue;
            api::settle(std::move(issues), decoded);
            objects.push_back(std::move(decoded));
        }
        return objects;
    }
    template <api::Kind T>
    T edit(const api::ObjectKey& name, const std::function<void(T&)>& change) {
        auto before = get<T>(name).value();
        auto after = before;
        change(after);
        return api::decode<T>(patch_json(key<T>(name), api::merge_patch(before, after))->value());
    }
    // Applies a merge patch, for fields that our types lack.
    template <api::Kind T>
    void patch(const api::ObjectKey& name, const json::object& change) {
        patch_json(key<T>(name), change);
    }
    template <api::Kind T>
    void remove(const api::ObjectKey& name, std::optional<std::int64_t> grace_seconds = std::nullopt) {
        DeleteRequest request;
        request.grace_seconds = grace_seconds;
        store_.remove(key<T>(name), request);
    }

    static std::string resource_name(const api::Resource& resource);
    template <api::Kind T>
    static Key key(const api::ObjectKey& name) {
        return {resource_name(T::kResource), name.namespace_, name.name};
    }

private:
    friend class WatchStream;
    Snapshot put_json(const Key& key, json::object object);
    Snapshot patch_json(const Key& key, const json::object& patch);
    // Returns the body of the answer and sets its status.
    std::string respond(const Target& target, const base::HttpRequest& request, int& status);
    std::string answer_review(const base::HttpRequest& request) const;
    // Throws Refusal if no RoleBinding gives the right.
    void check_rights(const Target& target) const;
    std::optional<json::object> discover(const std::string& path) const;
    std::string list_page(const Target& target);
    Snapshot create(const Target& target, json::object body);
    Snapshot patch(const Target& target, const base::HttpRequest& request);
    Snapshot apply(const Target& target, const base::HttpRequest& request);
    Snapshot remove(const Target& target, const base::HttpRequest& request);
    Snapshot evict(const Target& target, const json::object& body);
    void spend_budget(const Key& pod_key, const json::object& pod);
    void on_change(const Change& change);
    void schedule_pod_end(const Change& change);

    asio::any_io_executor executor_;
    base::Clock& clock_;
    Options options_;
    Store store_;
    bool is_restoring_ = false;
    std::list<WatchStream*> watches_;
    std::vector<std::function<void(const Change&)>> observers_;
    struct Page {
        std::vector<Snapshot> rest;
        std::string version;
    };
    std::map<std::string, Page> pages_;  // by continue token
    std::uint64_t tokens_ = 0;
    std::vector<Access> writes_;
    struct Ending {
        Key key;
        std::unique_ptr<base::Alarm> alarm;
    };
    std::map<std::string, Ending> endings_;  // by pod UID
};

}  // namespace fake
