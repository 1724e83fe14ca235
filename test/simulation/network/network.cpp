#include "test/simulation/network/network.hpp"

#include "test/simulation/network/wires.hpp"

namespace simulation {

Network::Network(asio::any_io_executor executor, base::Clock& clock, FaultPlan& faults, Trace& trace)
    : executor_(executor), clock_(clock), faults_(faults), trace_(trace), late_(executor) {}

bool Network::is_cut_off(const Process& process) const {
    auto found = cut_off_.find(process.name());
    return found != cut_off_.end() && clock_.now() < found->second;
}

std::optional<base::HttpResponse> Network::forbid(const base::HttpRequest& request) const {
    return authorize ? authorize(request) : std::nullopt;
}

base::HttpResponse Network::serve(const Process& process, fake::ApiServer& server,
                                  const base::HttpRequest& request) {
    struct Acting {
        const Process*& slot;
        ~Acting() { slot = nullptr; }
    } acting{acting_ = &process};
    auto refusal = forbid(request);
    auto response = refusal ? std::move(*refusal) : server.handle(request);
    if (on_api_request) on_api_request(process, request, response);
    return response;
}

void Network::maybe_kill(Process& process) {
    if (process.dead() || !faults_.strikes(Fault::killed_at_request)) return;
    trace_.line(process.name(), "is killed at a request");
    process.kill();
    on_killed(process);
    throw base::TransportError("killed", true);
}

std::unique_ptr<base::HttpTransport> Network::connect(Process& process, fake::ApiServer& server) {
    return std::make_unique<ApiWire>(*this, process, server);
}

std::unique_ptr<base::HttpTransport> Network::connect(Process& process,
                                                      std::unique_ptr<base::HttpTransport> provider) {
    return std::make_unique<ProviderWire>(*this, process, std::move(provider));
}

asio::awaitable<void> Network::shut_down() {
    late_.stop();
    co_await late_.join();
}

}  // namespace simulation
