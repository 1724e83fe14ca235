#include "test/support/fake_api_server.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/http_date.hpp"
#include "test/support/fake_api_rules.hpp"
#include "test/support/fake_api_watch.hpp"

namespace fake {
namespace {

constexpr auto kCollectionTime = std::chrono::seconds{1};

base::HttpResponse response_of(const Refusal& refusal) {
    return status_response(refusal.code, refusal.reason, refusal.what(), refusal.details);
}

class Answer final : public base::HttpStream {
public:
    explicit Answer(base::HttpResponse response) : head_(std::move(response)) { body_.swap(head_.body); }
    const base::HttpResponse& head() const override { return head_; }
    asio::awaitable<std::optional<std::string>> read() override {
        if (body_.empty()) co_return std::nullopt;
        std::optional<std::string> piece(std::move(body_));
        body_.clear();
        co_return piece;
    }

private:
    base::HttpResponse head_;
    std::string body_;
};

class Connection final : public base::HttpTransport {
public:
    Connection(ApiServer& server, Interference* interference)
        : server_(server), interference_(interference) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        co_await travel(request);
        if (interference_) {
            auto instead = interference_->before(request);
            if (instead) co_return std::move(*instead);
        }
        auto response = server_.handle(request);
        if (interference_) interference_->after(request, response);
        co_return response;
    }

    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_await travel(request);
        if (interference_) {
            auto instead = interference_->before(request);
            if (instead) co_return make_answer(std::move(*instead));
        }
        auto target = parse_target(request.target);
        bool watch = target && target->flag("watch");
        if (!watch) co_return make_answer(server_.handle(request));
        std::optional<base::HttpResponse> refused;
        try {
            co_return server_.watch(*target, request);
        } catch (const Refusal& refusal) {
            refused = response_of(refusal);
        }
        co_return make_answer(std::move(*refused));
    }

private:
    asio::awaitable<void> travel(const base::HttpRequest& request) {
        auto delay = interference_ ? interference_->delay(request) : base::Duration{};
        if (delay >= request.timeout) {
            co_await server_.clock().sleep_for(request.timeout);
            throw base::TransportError(request.method + " " + request.target + ": timed out", true);
        }
        if (delay > base::Duration::zero()) {
            co_await server_.clock().sleep_for(delay);
        } else {
            co_await asio::post(server_.executor(), asio::use_awaitable);
        }
    }

    ApiServer& server_;
    Interference* interference_;
};

}  // namespace

std::unique_ptr<base::HttpStream> make_answer(base::HttpResponse response) {
    return std::make_unique<Answer>(std::move(response));
}

base::HttpResponse status_response(int code, const std::string& reason, const std::string& message,
                                   const json::object& details) {
    json::object status{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object{}},
                        {"status", "Failure"}, {"message", message}, {"code", code}};
    if (!reason.empty()) status["reason"] = reason;
    if (!details.empty()) status["details"] = details;
    base::HttpResponse response;
    response.status = code;
    response.headers.set("Content-Type", "application/json");
    response.body = json::serialize(status);
    return response;
}

ApiServer::ApiServer(asio::any_io_executor executor, base::Clock& clock)
    : ApiServer(std::move(executor), clock, Options{}) {}

ApiServer::ApiServer(asio::any_io_executor executor, base::Clock& clock, Options options)
    : executor_(std::move(executor)), clock_(clock), options_(options), store_(clock) {
    store_.on_change([this](const Change& change) { on_change(change); });
}

ApiServer::~ApiServer() = default;

std::unique_ptr<base::HttpTransport> ApiServer::connect(Interference* interference) {
    return std::make_unique<Connection>(*this, interference);
}

std::unique_ptr<WatchStream> ApiServer::watch(const Target& target, const base::HttpRequest& request) {
    auto kind = kind_of(target, options_.custom_resources);
    auto selector = selector_of(target, kind);
    return std::make_unique<WatchStream>(*this, target, std::move(kind), std::move(selector),
                                         request.timeout);
}

void ApiServer::restore(const Store::Backup& backup) {
    for (auto* watch : watches_) watch->end();
    is_restoring_ = true;
    store_.restore(backup);
    is_restoring_ = false;
    pages_.clear();
}

void ApiServer::cut_watches() {
    for (auto* watch : watches_) watch->end();
}

void ApiServer::break_watches() {
    for (auto* watch : watches_) watch->lose_connection();
}

void ApiServer::log(const base::HttpRequest& request, int status) {
    if (request.method != "GET" && !is_review(request.target))
        writes_.push_back({clock_.now(), request.method, request.target, status});
}

std::string ApiServer::resource_name(const api::Resource& resource) {
    std::string name(resource.plural);
    return resource.group.empty() ? name : name + "." + std::string(resource.group);
}

base::HttpResponse ApiServer::handle(const base::HttpRequest& request) {
    base::HttpResponse response;
    try {
        auto target = parse_target(request.target);
        auto kinds = target ? std::nullopt : discover(request.target);
        if (!target && !kinds)
            throw Refusal(404, "NotFound", "the server could not find the requested resource");
        response.status = 200;
        response.body = kinds ? json::serialize(*kinds) : respond(*target, request, response.status);
        response.headers.set("Content-Type", "application/json");
    } catch (const Refusal& refusal) {
        response = response_of(refusal);
    }
    response.headers.set("Date", base::format_http_date(clock_.wall_now()));
    log(request, response.status);
    return response;
}

// Answers with an APIResourceList that holds only names, or with the server's version.
std::optional<json::object> ApiServer::discover(const std::string& path) const {
    if (path == "/version") return json::object{{"major", "1"}, {"minor", std::to_string(options_.minor)}};
    json::array resources;
    for (const auto& resource : options_.custom_resources) {
        if (path == "/apis/" + resource.api_version()) resources.push_back({{"name", resource.plural}});
    }
    if (resources.empty()) return std::nullopt;
    return json::object{
        {"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"resources", std::move(resources)}};
}

Snapshot ApiServer::put_json(const Key& key, json::object object) {
    if (!store_.find(key)) return store_.create(key, std::move(object));
    return store_.update(key, [&object](json::object& stored) {
        auto metadata = stored.at("metadata").get_object();
        for (const auto& [name, value] : member(object, "metadata")) metadata[name] = value;
        metadata["resourceVersion"] = stored.at("metadata").at("resourceVersion");
        metadata["uid"] = stored.at("metadata").at("uid");
        stored = object;
        stored["metadata"] = std::move(metadata);
    });
}

void ApiServer::on_change(const Change& change) {
    if (!is_restoring_)
        for (auto* watch : watches_) watch->offer(change);
    for (const auto& observer : observers_) observer(change);
    if (change.key.resource == "pods") schedule_pod_end(change);
    if (!change.before && change.last->object().at("metadata").as_object().contains("ownerReferences")) {
        // The garbage collector looks for the owners of each new object.
        auto errand = "collect " + metadata_text(change.last->object(), "uid");
        auto run = [this, errand] { collect(store_, endings_.extract(errand).mapped().key); };
        endings_[errand] = {change.key, clock_.call_at(clock_.now() + kCollectionTime, std::move(run))};
    }
}

void ApiServer::schedule_pod_end(const Change& change) {
    auto uid = metadata_text(change.last->object(), "uid");
    bool deleting =
        change.after && change.after->object().at("metadata").get_object().contains("deletionTimestamp");
    if (!deleting) {
        endings_.erase(uid);
        return;
    }
    if (!options_.pods_end_after || endings_.contains(uid)) return;
    auto end = [this, uid] {
        auto key = endings_.at(uid).key;
        DeleteRequest now;
        now.grace_seconds = 0;
        if (store_.find(key)) store_.remove(key, now);
    };
    endings_[uid] = {change.key, clock_.call_at(clock_.now() + *options_.pods_end_after, std::move(end))};
}

}  // namespace fake
