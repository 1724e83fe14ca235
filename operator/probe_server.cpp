#include "operator/probe_server.hpp"

#include <utility>

namespace kubenodesmith {
namespace {

base::HttpResponse answer(int status, std::string content_type, std::string body) {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", std::move(content_type));
    response.body = std::move(body);
    return response;
}

base::HttpResponse text(int status, std::string body) {
    return answer(status, "text/plain; charset=utf-8", std::move(body) + "\n");
}

std::string path_of(const base::HttpRequest& request) {
    return request.target.substr(0, request.target.find('?'));
}

bool is_read(const base::HttpRequest& request) {
    return request.method == "GET" || request.method == "HEAD";
}

base::HttpResponse probe(const base::HttpRequest& request, const std::function<Readiness()>& readiness) {
    auto path = path_of(request);
    if (!is_read(request)) return text(405, "only GET");
    if (path == "/healthz" || path == "/livez") return text(200, "ok");
    if (path != "/readyz") return text(404, "not found; there are /healthz and /readyz");
    auto state = readiness();
    return state.ready ? text(200, "ok") : text(503, "not ready: " + state.message);
}

base::HttpResponse observe(const base::HttpRequest& request, const std::function<std::string()>& metrics,
                           const std::function<std::string()>& state) {
    auto path = path_of(request);
    if (!is_read(request)) return text(405, "only GET");
    if (path == "/metrics") return answer(200, "text/plain; version=0.0.4; charset=utf-8", metrics());
    if (path == "/debug/state") return answer(200, "application/json", state());
    return text(404, "not found; there are /metrics and /debug/state");
}

base::asio::awaitable<base::HttpResponse> reply(base::HttpResponse response) {
    co_return response;
}

}  // namespace

base::HttpHandler make_probe_handler(std::function<Readiness()> readiness) {
    return [readiness = std::move(readiness)](const base::HttpRequest& request) {
        return reply(probe(request, readiness));
    };
}

base::HttpHandler make_metrics_handler(std::function<std::string()> metrics,
                                       std::function<std::string()> state) {
    return [metrics = std::move(metrics), state = std::move(state)](const base::HttpRequest& request) {
        return reply(observe(request, metrics, state));
    };
}

}  // namespace kubenodesmith
