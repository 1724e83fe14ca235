#include "operator/probe_server.hpp"

#include <utility>

#include "operator/status_page/page.hpp"

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
    const auto verbose = request.target.find("?verbose") != std::string::npos;
    const auto details = verbose ? "\n" + state.details : std::string();
    return state.ready ? text(200, "ok" + details) : text(503, "not ready: " + state.message + details);
}

base::HttpResponse observe(const base::HttpRequest& request, const Pages& pages) {
    auto path = path_of(request);
    if (!is_read(request)) return text(405, "only GET");
    if (path == "/metrics") return answer(200, "text/plain; version=0.0.4; charset=utf-8", pages.metrics());
    if (path == "/debug/state") return answer(200, "application/json", pages.state());
    if (path == "/status" && pages.status_document)
        return status_page::answer(request, pages.status_document);
    if (path == "/status") return text(404, "the status page is off; the flag --status-page turns it on");
    return text(404, "not found; there are /metrics, /debug/state and /status");
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

base::HttpHandler make_metrics_handler(Pages pages) {
    return [pages = std::move(pages)](const base::HttpRequest& request) {
        return reply(observe(request, pages));
    };
}

}  // namespace kubenodesmith
