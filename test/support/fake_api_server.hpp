// A Kubernetes API server in memory, spoken to through base::HttpTransport as a real one would be: list with
// pages, watch with bookmarks and 410, create, patches, status subresource, finalizers, eviction with
// budgets, owner references. It holds any kind. What controllers and kubelets do (scheduling, the status of
// budgets, ending pods) is the test's business, except that pods end by themselves if an option says so.
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

// Stands between one client and the server: to delay, refuse, lose or kill. Exceptions reach the client
// as they are: a base::TransportError is a lost connection, anything else a crash of the client.
class Interference {
public:
    virtual ~Interference() = default;
    virtual base::Duration delay(const base::HttpRequest&) { return {}; }
    // Before the request takes effect; a response returned here is sent instead.
    virtual std::optional<base::HttpResponse> before(const base::HttpRequest&) { return std::nullopt; }
    // After it took effect.
    virtual void after(const base::HttpRequest&, base::HttpResponse&) {}
};

base::HttpResponse status_response(int code, const std::string& reason, const std::string& message,
                                   const json::object& details = {});

// A response that is there at once, read as a stream.
std::unique_ptr<base::HttpStream> make_answer(base::HttpResponse response);

class WatchStream;

class ApiServer {
public:
    struct Options {
        // How long after deletion a pod on a node is gone; nullopt: until the test ends it.
        std::optional<base::Duration> pods_end_after = std::chrono::seconds{1};
        base::Duration watch_delay{};  // how late events arrive
        // What SubjectAccessReviews say: RBAC itself is not played.
        bool approves_tokens = false;
        bool tokens_may_join = true;
        // In these namespaces Secrets and RoleBindings are served only while there is a RoleBinding.
        std::set<std::string> rights_by_binding;
        int minor = 36;                               // of its Kubernetes version 1.x
        std::vector<api::Resource> custom_resources;  // served at /apis/GROUP/VERSION, for discovery
    };
    ApiServer(asio::any_io_executor executor, base::Clock& clock);
    ApiServer(asio::any_io_executor executor, base::Clock& clock, Options options);
    ~ApiServer();
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;

    // A client's connection; `interference` may be null and outlives it.
    std::unique_ptr<base::HttpTransport> connect(Interference* interference = nullptr);
    base::HttpResponse handle(const base::HttpRequest& request);
    std::unique_ptr<WatchStream> watch(const Target& target, const base::HttpRequest& request);

    Store& store() { return store_; }
    base::Clock& clock() { return clock_; }
    asio::any_io_executor executor() { return executor_; }
    Options& options() { return options_; }
    // As people do with etcd: the server stops, and starts with the data of then. Watches from versions that
    // it has yet to reach stand and hear nothing.
    void restore(const Store::Backup& backup);
    // Every watch ends, as when a server restarts.
    void cut_watches();
    // Every watch loses its connection, as behind a load balancer that ends quiet ones.
    void break_watches();
    // Called at once with every change, whoever made it; must not change objects itself.
    void observe(std::function<void(const Change&)> observer) { observers_.push_back(std::move(observer)); }

    struct Access {
        base::TimePoint at;
        std::string method;
        std::string target;
        int status = 0;
    };
    // Everything but GET, and but reviews, which are questions.
    const std::vector<Access>& writes() const { return writes_; }
    void log(const base::HttpRequest& request, int status);

    // What a user with kubectl does, at once and without HTTP. put() also writes status; both bypass
    // resourceVersion checks.
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
    // Without those that cannot be decoded.
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
    // The body of the answer.
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
