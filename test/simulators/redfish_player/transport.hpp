// A played BMC as a server in the process, in virtual time.
#pragma once

#include "base/http_client.hpp"
#include "test/simulators/redfish_player/player.hpp"

namespace redfish_player {

class Transport final : public base::HttpTransport {
public:
    // Both must outlive the transport.
    Transport(Player& player, base::Clock& clock) : player_(player), clock_(clock) {}

    boost::asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        constexpr base::Duration kLatency = std::chrono::milliseconds{50};
        co_await clock_.sleep_for(kLatency);
        co_return player_.handle(request);
    }
    boost::asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override {
        throw base::TransportError("played BMCs have no streams", false);
        co_return nullptr;
    }

private:
    Player& player_;
    base::Clock& clock_;
};

}  // namespace redfish_player
