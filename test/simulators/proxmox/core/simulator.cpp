#include "test/simulators/proxmox/core/simulator.hpp"

#include <boost/json/serialize.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/response.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/validate.hpp"

namespace proxmox_simulator {
namespace {

constexpr Duration kUnauthorizedDelay = std::chrono::seconds{3};
constexpr Duration kProxyTimeout = std::chrono::seconds{30};
// The server's own idle timeout, which also ends uploads. Their client then waits without an answer.
constexpr Duration kUploadPatience = std::chrono::seconds{5};
constexpr Duration kUnreachableDelay = std::chrono::seconds{3},
                   kFirstUnreachableDelay = std::chrono::seconds{14};
constexpr int kDaemonWorkers = 3;

}  // namespace

// Exchange is one request from arrival to answer. The worker that serves it and the caller that waits share
// it.
struct Simulator::Exchange {
    explicit Exchange(asio::any_io_executor executor) : finished(std::move(executor)) {}

    base::HttpRequest request;
    std::string entry_host;
    TimePoint started;
    WallTime started_wall;
    Target target;
    json::object parameters;
    std::optional<UploadedFile> file;
    std::unique_ptr<base::Alarm> cut;  // ends an upload
    std::string user;
    std::optional<base::HttpResponse> response;  // nullopt when done: the connection is lost
    bool done = false;
    base::ConditionVariable finished;

    // Returns false if the request has been answered before.
    bool finish(std::optional<base::HttpResponse> answer) {
        if (done) return false;
        done = true;
        response = std::move(answer);
        finished.notify_all();
        return true;
    }
};

Simulator::Simulator(asio::any_io_executor executor, base::Clock& clock, base::Random& random, World world)
    : cluster_(executor, clock, random, std::move(world)), daemon_worker_free_(executor) {
    cluster_.faults = &scripted_;
}

asio::awaitable<base::HttpResponse> Simulator::handle(base::HttpRequest request, std::string entry_host) {
    if (entry_host.empty()) entry_host = cluster_.world.hosts.front().name;
    const auto* entry = cluster_.find_host(entry_host);
    if (!entry || !entry->powered_on) throw base::TransportError(entry_host + ": No route to host", false);
    auto exchange = std::make_shared<Exchange>(cluster_.executor);
    exchange->request = std::move(request);
    exchange->entry_host = std::move(entry_host);
    exchange->started = cluster_.clock.now();
    exchange->started_wall = cluster_.clock.wall_now();
    cluster_.background.spawn(serve(exchange));
    while (!exchange->done) co_await exchange->finished.wait();
    if (!exchange->response) throw base::TransportError("connection reset by peer", true);
    co_return *exchange->response;
}

std::optional<base::HttpResponse> Simulator::refuse(const base::HttpRequest& head) {
    try {
        check_framing(head);
    } catch (const RawError& error) {
        return raw_response(error.status(), error.what(), error.body());
    }
    return std::nullopt;
}

asio::awaitable<void> Simulator::serve(std::shared_ptr<Exchange> exchange) {
    // The proxy in front gives up after a while, but the work behind it goes on.
    auto impatience = cluster_.clock.call_at(exchange->started + kProxyTimeout, [this, exchange] {
        if (exchange->finish(raw_response(596, "Connection timed out", ""))) record(*exchange);
    });
    std::optional<base::HttpResponse> response;
    bool unauthorized = false;
    try {
        response = co_await answer(*exchange);
    } catch (const ApiError& error) {
        response = error_response(cluster_.world.version, exchange->target.format, error);
        unauthorized = error.status() == 401;
    } catch (const RawError& error) {
        response = raw_response(error.status(), error.what(), error.body());
        unauthorized = error.status() == 401 || error.status() == 403;
    } catch (const std::logic_error& defect) {
        response = raw_response(500, "defect in the simulator", defect.what());
    }
    if (unauthorized) co_await cluster_.clock.sleep_for(kUnauthorizedDelay);
    if (exchange->finish(std::move(response))) record(*exchange);
}

asio::awaitable<std::optional<base::HttpResponse>> Simulator::answer(Exchange& exchange) {
    if (cluster_.world.durations.request > Duration::zero()) {
        co_await cluster_.clock.sleep_for(cluster_.world.durations.request);
    }
    check_framing(exchange.request);
    exchange.target = parse_target(exchange.request.target);
    auto path = percent_decode(exchange.target.path);
    std::optional<RequestFault> fault;
    if (cluster_.faults) fault = cluster_.faults->on_request(exchange.request.method, path);
    if (fault && fault->moment == Moment::before_effect) {
        co_await strike(*fault);
        co_return std::nullopt;
    }
    auto result = co_await dispatch(exchange);
    if (fault && fault->is_only_late) {
        co_await cluster_.clock.sleep_for(fault->delay);
    } else if (fault) {
        co_await strike(*fault);
        co_return std::nullopt;
    }
    auto response = success_response(exchange.target.format, std::move(result));
    if (exchange.file) response.headers.set("Connection", "close");
    co_return response;
}

// Returns if the connection is to be lost. Otherwise throws the error for the client.
asio::awaitable<void> Simulator::strike(RequestFault fault) {
    if (fault.delay > Duration::zero()) co_await cluster_.clock.sleep_for(fault.delay);
    if (fault.lose_connection) co_return;
    if (fault.status >= 590) throw RawError(fault.status, fault.reason);
    throw ApiError(fault.status, fault.reason);
}

// Checks in the same order as Proxmox: route, identity, conflicting parameters, permission, host, schema.
asio::awaitable<json::object> Simulator::dispatch(Exchange& exchange) {
    auto& request = exchange.request;
    auto match = routes().find(request.method, exchange.target.path);
    authenticate(exchange, match.endpoint);
    if (!match.endpoint) {
        auto path = exchange.target.path;
        while (path.size() > 1 && path.starts_with("//")) path.erase(0, 1);
        throw ApiError(501, "Method '" + request.method + " " + path + "' not implemented");
    }
    json::object parameters;
    for (const auto& [name, value] : match.parameters) parameters[name] = value;
    if (is_upload(request)) {
        // Proxmox checks the rights to upload before it reads the body, so the reply has no JSON.
        try {
            check_permission(*match.endpoint, parameters, exchange.user);
        } catch (const ApiError& denied) {
            throw RawError(denied.status(), denied.what());
        }
        exchange.parameters = parse_upload(request, exchange.file);
        cut_off_in_time(exchange);
    } else {
        exchange.parameters = parse_body(request);
    }
    for (auto& [name, value] : exchange.target.query) exchange.parameters[name] = value;
    for (const auto& [name, value] : exchange.parameters) {
        const auto* in_path = parameters.if_contains(name);
        if (in_path && *in_path != value) {
            throw parameter_error(name,
                                  "duplicate parameter (already defined in URI) with conflicting values!");
        }
        parameters[name] = value;
    }
    bool token = exchange.user.find('!') != std::string::npos;
    if (token && !match.endpoint->for_tokens) {
        throw permission_denied("URI '" + exchange.target.path +
                                "' not available with API token, need proper ticket.");
    }
    check_permission(*match.endpoint, parameters, exchange.user);
    auto node = match.endpoint->place == Place::node ? match.parameters["node"] : exchange.entry_host;
    if (node == "localhost") node = exchange.entry_host;
    co_await reach_host(exchange.entry_host, node);
    auto validated = validate(match.endpoint->schema, parameters);
    Call call{cluster_, *match.endpoint, exchange.user, node, std::move(validated), exchange.file, {}};
    if (cluster_.is_isolated(node) && request.method != "GET")
        throw failure("cluster not ready - no quorum?");
    co_return co_await execute(exchange, call);
}

// Ends an upload that takes too long. Its handler sends nothing before it is done: it may wait for other
// hosts or for a free worker.
void Simulator::cut_off_in_time(Exchange& exchange) {
    if (!exchange.file) return;
    exchange.cut = cluster_.clock.call_at(cluster_.clock.now() + kUploadPatience, [this, &exchange] {
        if (!exchange.finish(std::nullopt)) return;
        *exchange.file->is_gone = true;
        record(exchange);
    });
}

asio::awaitable<json::object> Simulator::execute(Exchange&, Call& call) {
    auto& busy = busy_daemon_workers_[call.node];
    struct Slot {
        int* count;
        base::ConditionVariable* freed;
        ~Slot() {
            if (!count) return;
            --*count;
            freed->notify_all();
        }
    };
    Slot slot{nullptr, &daemon_worker_free_};
    if (call.endpoint.daemon) {
        while (busy >= kDaemonWorkers) co_await daemon_worker_free_.wait();
        ++busy;
        slot.count = &busy;
    }
    json::object result;
    result["data"] = co_await call.endpoint.handler(call);
    if (call.total) result["total"] = *call.total;
    co_return result;
}

void Simulator::authenticate(Exchange& exchange, const Endpoint* endpoint) {
    if (endpoint && endpoint->access == Access::world) return;
    exchange.user =
        cluster_.authentication.identify(cluster_.world, exchange.request, cluster_.wall_seconds());
}

void Simulator::check_permission(const Endpoint& endpoint, const json::object& parameters,
                                 const std::string& user) const {
    if (endpoint.access != Access::privilege) return;
    std::string path = endpoint.permission_path;
    for (auto open = path.find('{'); open != std::string::npos; open = path.find('{')) {
        auto close = path.find('}', open);
        const auto* value = parameters.if_contains(path.substr(open + 1, close - open - 1));
        path.replace(open, close - open + 1,
                     value && value->is_string() ? std::string(value->as_string()) : "");
    }
    require_any(cluster_.world, user, path, endpoint.privileges);
}

asio::awaitable<void> Simulator::reach_host(const std::string& entry_host, const std::string& name) {
    if (name == entry_host) co_return;
    if (cluster_.is_isolated(entry_host) || cluster_.is_isolated(name))
        throw RawError(595, "No route to host");
    auto* host = cluster_.find_host(name);
    if (!host) {
        throw failure("hostname lookup '" + name + "' failed - failed to get address info for: " + name +
                      ": Temporary failure in name resolution");
    }
    if (host->powered_on) co_return;
    auto delay = host->answered_since_power_off ? kUnreachableDelay : kFirstUnreachableDelay;
    host->answered_since_power_off = true;
    co_await cluster_.clock.sleep_for(delay);
    throw RawError(595, "No route to host");
}

void Simulator::record(const Exchange& exchange) {
    if (!observer_) return;
    RequestRecord entry;
    entry.time = exchange.started_wall;
    entry.method = exchange.request.method;
    entry.path = percent_decode(exchange.target.path);
    entry.parameters = masked(exchange.parameters);
    entry.user = exchange.user;
    entry.entry_host = exchange.entry_host;
    entry.status = exchange.response ? exchange.response->status : 0;
    entry.reason = exchange.response ? exchange.response->reason : "connection lost";
    entry.duration = cluster_.clock.now() - exchange.started;
    observer_(entry);
}

asio::awaitable<void> Simulator::shut_down() {
    cluster_.background.stop();
    co_await cluster_.background.join();
}

}  // namespace proxmox_simulator
