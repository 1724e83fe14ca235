#include "providers/redfish/bmc/wire.hpp"

#include "base/backoff.hpp"
#include "base/http_client.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/gunzip.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

constexpr int kMostRedirects = 5;
constexpr base::Duration kSlow = std::chrono::seconds{10};
constexpr base::Backoff kPause{std::chrono::seconds{30}, std::chrono::minutes{10}};

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Returns "https://host" of "https://user@host/path", as the rest may be secret.
std::string server_of(const std::string& location) {
    const auto scheme = location.find("://");
    if (scheme == std::string::npos) return "of an unknown name";
    auto server = location.substr(0, location.find_first_of("/?#", scheme + 3));
    const auto user = server.rfind('@');
    if (user != std::string::npos) server.erase(scheme + 3, user - scheme - 2);
    return foreign::shown(server);
}

Complaint complain(RedfishErrorKind kind, std::string message) {
    Complaint complaint;
    complaint.kind = kind;
    complaint.message = std::move(message);
    return complaint;
}

}  // namespace

Wire::Wire(WireOptions options, Traffic& traffic)
    : options_(std::move(options)),
      origin_(base::parse_url(options_.http.url)),
      traffic_(traffic),
      turns_(traffic.environment.executor, std::max<std::size_t>(options_.parallel, 1)) {}

asio::awaitable<Wire::Visit> Wire::visit() {
    auto pass = co_await turns_.enter("");
    co_return Visit(*this, std::move(pass));
}

void Wire::leave() {
    if (--visits_ == 0) transport_.reset();
}

std::optional<base::Duration> Wire::pause() const {
    const auto now = traffic_.environment.clock.now();
    if (failures_ < kFailuresToOpen || now >= open_until_) return std::nullopt;
    return open_until_ - now;
}

asio::awaitable<base::HttpResponse> Wire::send(std::string tried, base::HttpRequest request, Effect effect) {
    for (int redirects = 0;; ++redirects) {
        auto response = co_await transmit(tried, request, effect);
        const auto location = response.headers.find("Location");
        if (!is_redirect(response.status) || !location) co_return response;
        const auto target = target_of(std::string(*location), origin_, Origin::same);
        if (!target || redirects == kMostRedirects) {
            const std::string why = target ? "too many redirects"
                                           : "it redirects to another server (" +
                                                 server_of(std::string(*location)) +
                                                 "): state that address as spec.bmc.address if it is its own";
            throw RedfishError(tried, complain(RedfishErrorKind::other, why));
        }
        if (response.status == 303) {
            request.method = "GET";
            request.body.clear();
        }
        request.target = *target;
    }
}

asio::awaitable<base::HttpResponse> Wire::transmit(const std::string& tried, base::HttpRequest request,
                                                   Effect effect) {
    if (const auto wait = pause()) {
        // The error repeats the last failure, so a condition only changes if the cause does.
        auto complaint = complain(RedfishErrorKind::unreachable, last_failure_);
        complaint.retry_after = *wait;
        throw RedfishError(tried, std::move(complaint));
    }
    const bool is_slow = failures_ > 0 || latency_ > kSlow;
    if (!is_slow) co_return co_await exchange(tried, std::move(request), effect);
    const auto lane = co_await traffic_.slow_calls.enter("");
    co_return co_await exchange(tried, std::move(request), effect);
}

asio::awaitable<base::HttpResponse> Wire::exchange(const std::string& tried, base::HttpRequest request,
                                                   Effect effect) {
    auto& environment = traffic_.environment;
    const auto pass = co_await traffic_.calls.enter("");
    const auto require_leadership = [&environment, &tried] {
        if (environment.may_mutate && !environment.may_mutate())
            throw FencedError(tried + ": not started, this process may no longer be the leader");
    };
    if (effect == Effect::host) {
        require_leadership();
        request.before_writing = require_leadership;
    }
    if (!transport_) transport_ = environment.connect(options_.http);
    request.timeout = options_.request_timeout;
    const auto method = request.method;
    const auto started = environment.clock.now();
    const auto count = [&](const std::string& code) {
        const auto took = environment.clock.now() - started;
        traffic_.requests.with({traffic_.provider.namespace_, traffic_.provider.name, method, code}).add();
        traffic_.durations.with({traffic_.provider.namespace_, traffic_.provider.name, method})
            .observe(std::chrono::duration<double>(took).count());
        return took;
    };
    try {
        auto response = co_await transport_->send(std::move(request));
        note_success(count(std::to_string(response.status)));
        decompress(response);
        co_return response;
    } catch (const base::ResponseTooLong& error) {
        // The BMC is alive. If the change may have happened, the host's state is more informative than the
        // answer.
        note_success(count("error"));
        const bool may_be_done = effect == Effect::host;
        throw RedfishError(
            tried, complain(may_be_done ? RedfishErrorKind::outcome_unknown : RedfishErrorKind::unreadable,
                            error.what()));
    } catch (const base::TransportError& error) {
        count("error");
        note_failure(error.what());
        const bool is_known = effect != Effect::host || !error.request_may_have_been_sent;
        throw RedfishError(
            tried, complain(is_known ? RedfishErrorKind::unreachable : RedfishErrorKind::outcome_unknown,
                            error.what()));
    }
}

// Decompresses the body, as some BMCs compress without being asked. An unreadable body keeps its
// Content-Encoding.
void Wire::decompress(base::HttpResponse& response) const {
    const auto encoding = response.headers.find("Content-Encoding");
    const bool is_gzip =
        encoding && (equal_ignoring_case(*encoding, "gzip") || equal_ignoring_case(*encoding, "x-gzip"));
    auto text = is_gzip ? gunzip(response.body, options_.http.max_response_bytes) : std::nullopt;
    if (!text) return;
    response.body = std::move(*text);
    response.headers.set("Content-Encoding", "identity");
}

void Wire::note_success(base::Duration took) {
    failures_ = 0;
    latency_ = latency_ == base::Duration::zero() ? took : (latency_ * 3 + took) / 4;
}

void Wire::note_failure(std::string what) {
    ++failures_;
    last_failure_ = std::move(what);
    if (failures_ < kFailuresToOpen) return;
    const auto wait = kPause.after(failures_ - kFailuresToOpen + 1, traffic_.environment.random);
    open_until_ = traffic_.environment.clock.now() + wait;
}

}  // namespace providers::redfish
