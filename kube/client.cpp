#include "kube/client.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "api/core.hpp"
#include "base/condition_variable.hpp"
#include "base/task_group.hpp"
#include "base/url.hpp"

namespace kube {
namespace {

constexpr base::Duration kTimeout = std::chrono::seconds(30);
constexpr int kRetries = 3;
constexpr base::Duration kLongestWait = std::chrono::seconds(10);
// Our name as the owner of fields, for server-side apply and in managedFields.
constexpr const char* kFieldManager = "kubenodesmith";

bool is_read(const base::HttpRequest& request) {
    return request.method == "GET";
}

// Leases need none: a webhook that hangs may hold all places for longer than a lease lasts.
bool needs_place(const base::HttpRequest& request) {
    return !request.target.starts_with("/apis/coordination.k8s.io/");
}

constexpr std::chrono::seconds kLongWait{10};

// Returns the answer to a write that was sent and got none in time. An API server that gives up itself
// answers likewise. It may wait 30 s for each admission webhook, so its own words may come too late.
base::HttpResponse unanswered(base::Duration waited) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
    base::HttpResponse response;
    response.status = 504;
    response.body = json::serialize(
        json::object{{"kind", "Status"},
                     {"apiVersion", "v1"},
                     {"status", "Failure"},
                     {"reason", "Timeout"},
                     {"code", 504},
                     {"message", "the API server has not answered within " + std::to_string(seconds) +
                                     " s: an admission webhook may hang"}});
    return response;
}

// Returns the pause that the server requests; nullopt: the answer is final. API priority and fairness answers
// 429 before it processes the request. A 429 for an eviction concerns budgets, so the caller handles it.
std::optional<base::Duration> wait_wanted(const base::HttpRequest& request,
                                          const base::HttpResponse& response) {
    if (response.status != 429 && !(response.status == 503 && is_read(request))) return std::nullopt;
    auto error = error_of("", response);
    for (const auto& cause : error.causes) {
        if (cause.reason == "DisruptionBudget") return std::nullopt;
    }
    if (!error.retry_after || *error.retry_after > kLongestWait) return std::nullopt;
    return std::max<base::Duration>(*error.retry_after, std::chrono::milliseconds(100));
}

std::string subject_of(const std::string& method, const std::string& target) {
    return method + ' ' + target.substr(0, target.find('?'));
}

std::string subject_of(const base::HttpRequest& request) {
    return subject_of(request.method, request.target);
}

// Reports whether the object does not exist. For an unknown kind the server also answers 404, but with
// another text.
bool is_absent(const ApiError& error) {
    return error.reason == "NotFound" && error.message != "the server could not find the requested resource";
}

json::value parse_answer(const std::string& subject, const std::string& text) {
    json::parse_options options;
    options.max_depth = api::kMaxDepth;
    boost::system::error_code error;
    auto document = json::parse(text, error, {}, options);
    if (error) throw std::runtime_error(subject + ": the answer is not JSON: " + error.message());
    return document;
}

// Limits the objects of a page, which has to arrive in time and within the transport's limit of an answer.
// Each may have more than a MiB: those of the operator's own kinds, too, as anyone who may write them may add
// labels.
constexpr int kPageSize = 50;

// Intake passes a page to its reader as it arrives, so that a page of large objects is never held as a whole.
class Intake {
public:
    explicit Intake(std::unique_ptr<PageReader> reader) : reader_(std::move(reader)) {}

    // Skips what follows a failure, which finish() tells: the transport goes on reading the answer.
    void take(std::string_view piece) {
        if (failure_) return;
        try {
            reader_->consume(piece);
        } catch (const std::runtime_error& error) {
            failure_ = error.what();
        }
    }
    api::ListMeta finish(const std::string& subject) {
        api::ListMeta page;
        try {
            if (!failure_) page = reader_->finish();
        } catch (const std::runtime_error& error) {
            failure_ = error.what();
        }
        if (failure_) throw std::runtime_error(subject + ": cannot decode the answer: " + *failure_);
        return page;
    }

private:
    std::unique_ptr<PageReader> reader_;
    std::optional<std::string> failure_;
};

const char* content_type_of(Patch::Type type) {
    switch (type) {
        case Patch::Type::merge:
            return "application/merge-patch+json";
        case Patch::Type::json:
            return "application/json-patch+json";
        case Patch::Type::apply:
            return "application/apply-patch+yaml";
    }
    throw std::logic_error("unknown type of patch");
}

base::HttpRequest make_request(std::string method, std::string target, const std::optional<json::value>& body,
                               std::string content_type) {
    base::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.timeout = kTimeout;
    request.headers.set("Accept", "application/json");
    if (body) {
        request.headers.set("Content-Type", std::move(content_type));
        request.body = json::serialize(*body);
    }
    return request;
}

}  // namespace

struct Client::Impl {
    Impl(std::unique_ptr<base::HttpTransport> given, base::Clock& given_clock,
         base::MetricsRegistry& given_metrics, std::size_t given_limit)
        : transport(std::move(given)),
          clock(given_clock),
          registry(given_metrics),
          limit(given_limit),
          // The names are client-go's, without its host label, as there is only one host.
          requests(registry.counter("rest_client_requests_total",
                                    "Requests to the API server by method and status", {"code", "method"})),
          latency(registry.histogram("rest_client_request_duration_seconds",
                                     "Time of requests to the API server",
                                     {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}, {"verb"})) {}

    // Place is one of `limit` places for calls in flight.
    class Place {
    public:
        explicit Place(Impl& impl) : impl_(impl) { ++impl_.in_flight; }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() {
            --impl_.in_flight;
            if (impl_.freed) impl_.freed->notify_all();
        }

    private:
        Impl& impl_;
    };

    // Returns any status except a request to come back later.
    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) {
        for (int retries = 0;; ++retries) {
            auto response = co_await send_once(request);
            auto wait = wait_wanted(request, response);
            if (!wait || retries == kRetries) co_return response;
            co_await clock.sleep_for(*wait);
        }
    }

    asio::awaitable<base::HttpResponse> send_once(base::HttpRequest request) {
        if (!freed) freed.emplace(co_await asio::this_coro::executor);
        std::optional<Place> place;
        if (needs_place(request)) {
            while (in_flight >= limit) co_await freed->wait();
            place.emplace(*this);
        }
        const auto method = request.method;
        const auto patience = request.timeout;
        const bool is_write = !is_read(request);
        const auto start = clock.now();
        base::HttpResponse response;
        try {
            response = co_await transport->send(std::move(request));
        } catch (const base::TransportError& error) {
            requests.with({"<error>", method}).add();
            const auto waited = clock.now() - start;
            // A load balancer may cut a connection that has been idle for some seconds, although the API
            // server still waits for a webhook.
            const auto long_wait = std::min<base::Duration>(patience, kLongWait);
            if (!is_write || !error.request_may_have_been_sent || waited < long_wait) throw;
            co_return unanswered(waited);
        }
        requests.with({std::to_string(response.status), method}).add();
        latency.with({method}).observe(std::chrono::duration<double>(clock.now() - start).count());
        co_return response;
    }

    asio::awaitable<void> open_into(base::HttpRequest request, std::unique_ptr<base::HttpStream>& stream) {
        stream = co_await transport->open(std::move(request));
    }

    std::unique_ptr<base::HttpTransport> transport;
    base::Clock& clock;
    base::MetricsRegistry& registry;
    std::size_t limit;
    std::size_t in_flight = 0;
    std::optional<base::ConditionVariable> freed;
    base::Family<base::Counter>& requests;
    base::Family<base::Histogram>& latency;
};

std::optional<Patch> make_difference(json::object patch, const std::string& resource_version, Lock lock) {
    if (patch.empty()) return std::nullopt;
    if (lock == Lock::resource_version) {
        auto& metadata = patch["metadata"];
        if (!metadata.is_object()) metadata = json::object();
        metadata.get_object()["resourceVersion"] = resource_version;
    }
    Patch result;
    result.body = std::move(patch);
    return result;
}

Client::Client(std::unique_ptr<base::HttpTransport> transport, base::Clock& clock,
               base::MetricsRegistry& metrics, std::size_t max_in_flight)
    : impl_(std::make_unique<Impl>(std::move(transport), clock, metrics, max_in_flight)) {}
Client::~Client() = default;

base::MetricsRegistry& Client::metrics() {
    return impl_->registry;
}

asio::awaitable<std::string> Client::call_text(std::string method, std::string target,
                                               std::optional<json::value> body, std::string content_type) {
    auto request = make_request(std::move(method), std::move(target), body, std::move(content_type));
    auto response = co_await impl_->send(request);
    if (response.status >= 300) throw error_of(subject_of(request), response);
    co_return std::move(response.body);
}

asio::awaitable<std::optional<std::string>> Client::get_text(std::string target) {
    auto request = make_request("GET", std::move(target), std::nullopt, "");
    auto response = co_await impl_->send(request);
    if (response.status < 300) co_return std::move(response.body);
    auto error = error_of(subject_of(request), response);
    if (!is_absent(error)) throw error;
    co_return std::nullopt;
}

asio::awaitable<std::string> Client::patch_text(std::string target, Patch patch) {
    target += std::string("?fieldManager=") + kFieldManager;
    if (patch.type == Patch::Type::apply) target += "&force=true";
    std::optional<json::value> body = std::move(patch.body);
    co_return co_await call_text("PATCH", std::move(target), std::move(body), content_type_of(patch.type));
}

asio::awaitable<json::value> Client::call(std::string method, std::string target,
                                          std::optional<json::value> body, std::string content_type) {
    const auto subject = subject_of(method, target);
    const auto answer =
        co_await call_text(std::move(method), std::move(target), std::move(body), std::move(content_type));
    co_return parse_answer(subject, answer);
}

asio::awaitable<std::optional<json::value>> Client::get_json(std::string target) {
    const auto subject = subject_of("GET", target);
    const auto answer = co_await get_text(std::move(target));
    if (!answer) co_return std::nullopt;
    co_return parse_answer(subject, *answer);
}

asio::awaitable<json::value> Client::patch_json(std::string target, Patch patch) {
    const auto subject = subject_of("PATCH", target);
    const auto answer = co_await patch_text(std::move(target), std::move(patch));
    co_return parse_answer(subject, answer);
}

asio::awaitable<bool> Client::remove_json(std::string target, api::Preconditions preconditions) {
    json::object options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
    json::object conditions;
    if (!preconditions.uid.empty()) conditions["uid"] = preconditions.uid;
    if (!preconditions.resourceVersion.empty()) conditions["resourceVersion"] = preconditions.resourceVersion;
    if (!conditions.empty()) options["preconditions"] = std::move(conditions);
    std::optional<json::value> body = std::move(options);
    auto request = make_request("DELETE", std::move(target), body, "application/json");
    auto response = co_await impl_->send(request);
    if (response.status < 300) co_return true;
    auto error = error_of(subject_of(request), response);
    if (!is_absent(error)) throw error;
    co_return false;
}

asio::awaitable<void> Client::list_into(api::Resource resource, ListOptions options, ListSink& sink) {
    std::string token;
    for (bool may_restart = true;;) {
        auto parameters = "limit=" + std::to_string(kPageSize);
        if (!token.empty()) parameters += "&continue=" + base::percent_encode(token);
        Intake intake(sink.read_page());
        auto request = make_request("GET", list_target(resource, options, parameters), std::nullopt, "");
        request.on_body = [&intake](std::string_view piece) { intake.take(piece); };
        const auto response = co_await impl_->send(request);
        if (response.status >= 300) {
            const auto error = error_of(subject_of(request), response);
            if (token.empty() || !error.is_expired() || !may_restart) throw error;
            may_restart = false;
            sink.restart();
            token.clear();
            continue;
        }
        if (!response.body.empty()) intake.take(response.body);
        token = intake.finish(subject_of(request)).continue_;
        if (token.empty() || options.first_page_only) co_return;
    }
}

asio::awaitable<std::unique_ptr<base::HttpStream>> Client::open(std::string target,
                                                                base::Duration idle_timeout) {
    auto request = make_request("GET", std::move(target), std::nullopt, "");
    request.timeout = idle_timeout;
    const auto subject = subject_of(request);
    std::unique_ptr<base::HttpStream> stream;
    // A watch may be silent for minutes, but its header arrives immediately.
    const bool in_time = co_await base::run_before(impl_->clock, impl_->clock.now() + kTimeout,
                                                   impl_->open_into(std::move(request), stream));
    if (!in_time) throw base::TransportError(subject + ": timed out", true);
    impl_->requests.with({std::to_string(stream->head().status), "WATCH"}).add();
    co_return stream;
}

asio::awaitable<EvictResult> Client::evict(ObjectKey pod, std::string uid,
                                           std::optional<std::chrono::seconds> grace) {
    api::Eviction eviction;
    eviction.metadata.namespace_ = pod.namespace_;
    eviction.metadata.name = pod.name;
    api::DeleteOptions options;
    if (grace) options.gracePeriodSeconds = grace->count();
    if (!uid.empty()) options.preconditions.emplace().uid = uid;
    eviction.deleteOptions = std::move(options);
    std::optional<json::value> body = api::encode(eviction);
    constexpr api::Resource kPods{"", "v1", "pods", "Pod"};
    auto request = make_request("POST", path_of(kPods, pod, "eviction"), body, "application/json");
    auto response = co_await impl_->send(request);
    if (response.status < 300) co_return Evicted();
    auto error = error_of(subject_of(request), response);
    // A 409 means that the precondition failed: the pod with that UID is gone.
    const bool is_gone = is_absent(error) || (response.status == 409 && !uid.empty());
    if (is_gone && !error.is_denial()) co_return PodNotFound();
    // A pod with two budgets is refused with 500 until a person changes that.
    const bool two_budgets = error.message.find("more than one PodDisruptionBudget") != std::string::npos;
    const bool by_budget = std::ranges::any_of(
        error.causes, [](const auto& cause) { return cause.reason == "DisruptionBudget"; });
    if (!by_budget && !two_budgets) throw error;
    BlockedByBudget blocked;
    blocked.has_several_budgets = two_budgets;
    blocked.causes = error.causes;
    blocked.message = error.message;
    blocked.retry_after = error.retry_after;
    co_return blocked;
}

}  // namespace kube
