// A base::HttpTransport that ends in a Simulator, so that a client needs no network.
#pragma once

#include <string>

#include "base/http.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"

namespace proxmox_simulator {

class SimulatorTransport final : public base::HttpTransport {
public:
    // Requests arrive at `entry_host` (empty: the first one). The simulator must outlive the transport.
    explicit SimulatorTransport(Simulator& simulator, std::string entry_host = {})
        : simulator_(simulator), entry_host_(std::move(entry_host)) {}

    // Also throws base::TransportError when request.timeout passes on the simulator's clock.
    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override;
    // Throws base::TransportError, because Proxmox has no streams.
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override;

private:
    Simulator& simulator_;
    std::string entry_host_;
};

}  // namespace proxmox_simulator
