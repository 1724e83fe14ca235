#include "test/simulators/redfish/transport.hpp"

#include <algorithm>

namespace redfish_simulator {

namespace asio = boost::asio;

namespace {

constexpr base::Duration kConnectTimeout = std::chrono::seconds{10};

}  // namespace

class Transport final : public base::HttpTransport {
public:
    Transport(Network& network, std::string url) : network_(network), url_(std::move(url)) {
        ++network_.connections;
    }
    ~Transport() override { --network_.connections; }

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        const Call call(network_, url_);
        const auto found = network_.bmcs_.find(url_);
        const bool is_dead = found == network_.bmcs_.end() || network_.unplugged_[url_];
        if (is_dead) {
            co_await network_.clock_.sleep_for(kConnectTimeout);
            throw base::TransportError("connect " + url_ + ": timed out", false);
        }
        auto& bmc = *found->second;
        const auto latency = bmc.profile().latency;
        if (latency > request.timeout) {
            co_await network_.clock_.sleep_for(request.timeout);
            throw base::TransportError(request.method + " " + url_ + ": timed out", true);
        }
        // Half of the time passes before the request takes effect.
        co_await network_.clock_.sleep_for(latency / 2);
        auto response = bmc.handle(request);
        co_await network_.clock_.sleep_for(latency - latency / 2);
        co_return response;
    }

    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override {
        throw base::TransportError("simulated BMCs have no streams", false);
        co_return nullptr;
    }

private:
    struct Call {
        Call(Network& to, const std::string& url) : network(to), here(to.by_bmc_[url]) {
            ++network.calls;
            network.most_in_flight = std::max(network.most_in_flight, ++network.in_flight);
            network.most_per_bmc = std::max(network.most_per_bmc, ++here);
        }
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;
        ~Call() {
            --network.in_flight;
            --here;
        }
        Network& network;
        std::size_t& here;
    };

    Network& network_;
    std::string url_;
};

Bmc& Network::add(const std::string& url, Profile profile) {
    auto& slot = bmcs_[url];
    slot = std::make_unique<Bmc>(std::move(profile), clock_);
    return *slot;
}

std::unique_ptr<base::HttpTransport> Network::connect(const base::HttpClientOptions& options) {
    return std::make_unique<Transport>(*this, options.url);
}

}  // namespace redfish_simulator
