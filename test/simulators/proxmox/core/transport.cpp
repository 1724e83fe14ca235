#include "test/simulators/proxmox/core/transport.hpp"

#include <boost/asio/co_spawn.hpp>

namespace proxmox_simulator {

// The answer and the timeout race for the outcome. The simulator works on in either case.
asio::awaitable<base::HttpResponse> SimulatorTransport::send(base::HttpRequest request) {
    struct Outcome {
        explicit Outcome(asio::any_io_executor executor) : settled(std::move(executor)) {}
        std::optional<base::HttpResponse> response;
        std::exception_ptr failure;
        base::ConditionVariable settled;
    };
    auto& cluster = simulator_.cluster();
    auto outcome = std::make_shared<Outcome>(cluster.executor);
    const auto deadline = cluster.clock.now() + request.timeout;
    asio::co_spawn(cluster.executor, simulator_.handle(std::move(request), entry_host_),
                   [outcome](std::exception_ptr failure, base::HttpResponse response) {
                       outcome->failure = failure;
                       if (!failure) outcome->response = std::move(response);
                       outcome->settled.notify_all();
                   });
    while (!outcome->response && !outcome->failure) {
        if (cluster.clock.now() >= deadline) throw base::TransportError("timed out", true);
        co_await outcome->settled.wait_until(cluster.clock, deadline);
    }
    if (outcome->failure) std::rethrow_exception(outcome->failure);
    co_return std::move(*outcome->response);
}

asio::awaitable<std::unique_ptr<base::HttpStream>> SimulatorTransport::open(base::HttpRequest) {
    throw base::TransportError("the Proxmox simulator has no streams", false);
    co_return nullptr;
}

}  // namespace proxmox_simulator
