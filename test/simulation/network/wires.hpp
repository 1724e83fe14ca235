// The connections of Network. Other code does not include this header.
#pragma once

#include "test/simulation/network/network.hpp"

namespace simulation {

// Wire holds the faults of both kinds of connections.
class Network::Wire : public base::HttpTransport {
public:
    Wire(Network& network, Process& process) : network_(network), process_(process) {}

protected:
    asio::awaitable<void> wait(base::Duration duration);
    // Returns the error of a request that arrives only after the client has given up.
    static base::TransportError timed_out(const base::HttpRequest& request);

    Network& network_;
    Process& process_;
};

class Network::ApiWire final : public Wire {
public:
    ApiWire(Network& network, Process& process, fake::ApiServer& server)
        : Wire(network, process), server_(server) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override;
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override;

private:
    asio::awaitable<void> travel(const base::HttpRequest& request);
    static asio::awaitable<void> arrive_late(Network& network, Process& process, fake::ApiServer& server,
                                             base::HttpRequest request, base::Duration delay);
    std::optional<base::HttpResponse> refusal(const base::HttpRequest& request);

    fake::ApiServer& server_;
};

class Network::WireStream final : public base::HttpStream {
public:
    // Throws if the stream is silent for `silence`.
    WireStream(Network& network, Process& process, std::unique_ptr<base::HttpStream> inner,
               base::Duration silence)
        : network_(network),
          process_(process),
          inner_(std::move(inner)),
          silence_(silence),
          generation_(network.watch_generation_) {}

    const base::HttpResponse& head() const override { return inner_->head(); }
    asio::awaitable<std::optional<std::string>> read() override;

private:
    asio::awaitable<std::optional<std::string>> next_piece();
    asio::awaitable<void> read_into(std::optional<std::string>& piece);

    Network& network_;
    Process& process_;
    std::unique_ptr<base::HttpStream> inner_;
    base::Duration silence_;
    std::uint64_t generation_;
};

class Network::ProviderWire final : public Wire {
public:
    ProviderWire(Network& network, Process& process, std::unique_ptr<base::HttpTransport> inner)
        : Wire(network, process), inner_(std::move(inner)) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override;
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override;

private:
    static asio::awaitable<void> arrive_late(std::shared_ptr<base::HttpTransport> inner,
                                             base::HttpRequest request, base::Clock& clock,
                                             base::Duration delay);

    std::shared_ptr<base::HttpTransport> inner_;  // shared with requests that arrive late
};

}  // namespace simulation
