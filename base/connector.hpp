// Connector opens connections to one server: name lookup, TCP, proxy, TLS. Only presented_fingerprint() is a
// public interface of base/.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/http_client.hpp"
#include "base/net_stream.hpp"
#include "base/url.hpp"

namespace base {

class Connector {
public:
    // Throws std::invalid_argument.
    Connector(asio::any_io_executor executor, Clock& clock, HttpClientOptions options);

    // Throws std::runtime_error with the failed step and host, or system_error(operation_aborted) if
    // cancelled. The stream must not outlive the connector.
    asio::awaitable<std::unique_ptr<NetStream>> connect(TimePoint deadline);
    const HttpClientOptions& options() const { return options_; }
    const Url& url() const { return url_; }

private:
    asio::awaitable<std::vector<asio::ip::address>> resolve(std::string host, TimePoint deadline);
    asio::awaitable<std::unique_ptr<NetStream>> connect_tcp(std::string host, std::uint16_t port,
                                                            TimePoint deadline);
    asio::awaitable<void> open_tunnel(NetStream& stream);
    asio::awaitable<void> start_tls(NetStream& stream);

    asio::any_io_executor executor_;
    Clock& clock_;
    HttpClientOptions options_;
    Url url_;
    std::optional<Url> proxy_;
    std::optional<asio::ssl::context> tls_;
};

// Returns the SHA-256 fingerprint (AA:BB:...) of the certificate that the server shows, whoever signed it. No
// request is sent. Throws std::runtime_error if there is no connection, and std::invalid_argument as
// Connector does.
asio::awaitable<std::string> presented_fingerprint(asio::any_io_executor executor, Clock& clock,
                                                   HttpClientOptions options);

}  // namespace base
