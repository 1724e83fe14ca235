#include "test/simulation/network/wires.hpp"

namespace simulation {
namespace {

constexpr std::chrono::seconds kLatest{30};  // a request that is under way for longer is lost
constexpr std::chrono::seconds kStalest{20};
constexpr base::Duration kQuietest = std::chrono::seconds{20};  // the longest time for which a load balancer
                                                                // leaves a quiet connection open
constexpr std::chrono::milliseconds kUsualLatency{2};           // latency of a hypervisor
constexpr std::chrono::milliseconds kBeforeReset{10};

}  // namespace

asio::awaitable<void> Network::Wire::wait(base::Duration duration) {
    co_await network_.clock_.sleep_for(duration);
}

base::TransportError Network::Wire::timed_out(const base::HttpRequest& request) {
    return {request.method + " " + request.target + ": timed out", true};
}

// ---- the API server

asio::awaitable<void> Network::ApiWire::travel(const base::HttpRequest& request) {
    co_await process_.running();
    network_.maybe_kill(process_);
    if (network_.is_cut_off(process_)) {
        auto left = network_.cut_off_.at(process_.name()) - network_.clock_.now();
        co_await wait(std::min<base::Duration>(left, request.timeout));
        throw base::TransportError("the API server does not answer", false);
    }
    auto latency =
        std::chrono::microseconds{300 + static_cast<std::int64_t>(network_.faults_.random().below(3000))};
    co_await wait(latency);
}

std::optional<base::HttpResponse> Network::ApiWire::refusal(const base::HttpRequest& request) {
    auto& faults = network_.faults_;
    if (faults.strikes(Fault::api_refused)) {
        switch (faults.random().below(4)) {
            case 0:
                throw base::TransportError("connection refused", false);
            case 1:
                return fake::status_response(500, "InternalError", "etcdserver: leader changed");
            case 2:
                return fake::status_response(503, "ServiceUnavailable", "apiserver is shutting down");
            default:
                return fake::status_response(504, "Timeout",
                                             "the server was unable to return a response in time");
        }
    }
    if (faults.strikes(Fault::api_throttled)) {
        auto response =
            fake::status_response(429, "TooManyRequests", "too many requests, please try again later");
        response.headers.set("Retry-After", std::to_string(1 + faults.random().below(5)));
        return response;
    }
    if (request.method == "PATCH" && faults.strikes(Fault::api_conflict)) {
        return fake::status_response(
            409, "Conflict",
            "the object has been modified; please apply your changes to the latest version and try again");
    }
    return std::nullopt;
}

asio::awaitable<void> Network::ApiWire::arrive_late(Network& network, Process& process,
                                                    fake::ApiServer& server, base::HttpRequest request,
                                                    base::Duration delay) {
    co_await network.clock_.sleep_for(delay);
    network.trace_.line("network", "delivers late: ", request.method, " ", request.target);
    network.serve(process, server, request);
}

asio::awaitable<base::HttpResponse> Network::ApiWire::send(base::HttpRequest request) {
    if (network_.on_api_departure && !process_.dead()) network_.on_api_departure(process_, request);
    co_await travel(request);
    auto& faults = network_.faults_;
    if (faults.strikes(Fault::api_slow)) {
        auto delay = faults.duration(std::chrono::milliseconds{100}, kLatest);
        if (delay >= request.timeout) {
            network_.late_.spawn(arrive_late(network_, process_, server_, request, delay));
            co_await wait(request.timeout);
            throw timed_out(request);
        }
        co_await wait(delay);
    }
    auto instead = refusal(request);
    if (instead) co_return std::move(*instead);
    if (network_.admit) {
        auto admission = network_.admit(request);
        co_await wait(std::min<base::Duration>(admission.takes, request.timeout));
        if (admission.takes >= request.timeout) throw timed_out(request);
        if (admission.refusal) {
            if (network_.on_api_request && !process_.dead())
                network_.on_api_request(process_, request, *admission.refusal);
            co_await process_.running();
            co_return std::move(*admission.refusal);
        }
    }
    auto response = network_.serve(process_, server_, request);
    network_.maybe_kill(process_);
    if (faults.strikes(Fault::api_answer_lost)) {
        co_await wait(kBeforeReset);
        throw base::TransportError(request.method + " " + request.target + ": connection reset", true);
    }
    co_await process_.running();
    co_return response;
}

asio::awaitable<std::unique_ptr<base::HttpStream>> Network::ApiWire::open(base::HttpRequest request) {
    co_await travel(request);
    auto instead = refusal(request);
    if (!instead) instead = network_.forbid(request);
    auto transport = server_.connect();
    const auto silence = request.timeout;
    if (instead) co_return fake::make_answer(std::move(*instead));
    auto inner = co_await transport->open(std::move(request));
    co_await process_.running();
    co_return std::make_unique<WireStream>(network_, process_, std::move(inner), silence);
}

asio::awaitable<std::optional<std::string>> Network::WireStream::read() {
    co_await process_.running();
    auto& faults = network_.faults_;
    if (faults.strikes(Fault::watch_stalled)) {
        co_await network_.clock_.sleep_for(silence_);
        throw base::TransportError("watch: nothing came for too long", true);
    }
    auto text = co_await next_piece();
    bool dropped = generation_ != network_.watch_generation_ || network_.is_cut_off(process_) ||
                   faults.strikes(Fault::watch_dropped);
    if (dropped) throw base::TransportError("watch: connection reset", true);
    if (text && faults.strikes(Fault::watch_stale)) {
        auto lag = faults.duration(std::chrono::milliseconds{50}, kStalest);
        co_await network_.clock_.sleep_for(lag);
    }
    co_await process_.running();
    co_return text;
}

asio::awaitable<std::optional<std::string>> Network::WireStream::next_piece() {
    auto& faults = network_.faults_;
    if (!faults.has(Fault::watch_cut_when_quiet)) co_return co_await inner_->read();
    std::optional<std::string> piece;
    const auto deadline = network_.clock_.now() + kQuietest;
    const bool in_time = co_await base::run_before(network_.clock_, deadline, read_into(piece));
    if (in_time) co_return piece;
    faults.note(Fault::watch_cut_when_quiet);
    throw base::TransportError("watch: connection reset", true);
}

asio::awaitable<void> Network::WireStream::read_into(std::optional<std::string>& piece) {
    piece = co_await inner_->read();
}

// ---- providers

asio::awaitable<void> Network::ProviderWire::arrive_late(std::shared_ptr<base::HttpTransport> inner,
                                                         base::HttpRequest request, base::Clock& clock,
                                                         base::Duration delay) {
    co_await clock.sleep_for(delay);
    try {
        co_await inner->send(std::move(request));
    } catch (const base::TransportError&) {  // no client waits for it
    }
}

asio::awaitable<base::HttpResponse> Network::ProviderWire::send(base::HttpRequest request) {
    co_await process_.running();
    network_.maybe_kill(process_);
    if (network_.provider_hangs && network_.provider_hangs(request)) {
        co_await wait(request.timeout);
        throw timed_out(request);
    }
    if (auto refusal = network_.provider_refuses ? network_.provider_refuses(request) : std::nullopt) {
        co_await wait(kUsualLatency);
        co_return *std::move(refusal);
    }
    for (const auto& note : network_.on_departure) note(request);
    auto& faults = network_.faults_;
    if (faults.strikes(Fault::provider_slow)) {
        auto delay = faults.duration(std::chrono::milliseconds{100}, kLatest);
        if (delay >= request.timeout) {
            network_.late_.spawn(arrive_late(inner_, request, network_.clock_, delay));
            co_await wait(request.timeout);
            throw timed_out(request);
        }
        co_await wait(delay);
        request.timeout -= delay;
    } else {
        co_await wait(kUsualLatency);
    }
    auto response = co_await inner_->send(request);
    network_.maybe_kill(process_);
    co_await process_.running();
    co_return response;
}

asio::awaitable<std::unique_ptr<base::HttpStream>> Network::ProviderWire::open(base::HttpRequest request) {
    co_await process_.running();
    auto stream = co_await inner_->open(std::move(request));
    co_return stream;
}

}  // namespace simulation
