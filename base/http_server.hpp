// A small HTTP/1.1 server for probes, metrics, boot data and the simulators, with optional TLS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/certificate.hpp"
#include "base/http.hpp"
#include "base/interface.hpp"

namespace base {

struct HttpServerOptions {
    // Empty: all addresses of the host, IPv4 and, if available, IPv6.
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free port
    // Null: plain HTTP. Called at the start and at each handshake, so that a certificate can be renewed. If
    // it throws later, or its pair does not match, that is logged, and the handshake uses the last good pair.
    std::function<KeyPair()> key_pair;
    // Limit of everything besides bodies: request line, headers, sizes and extensions of chunks, trailers.
    std::size_t max_header_bytes = 8 * 1024;
    // 0: for servers that accept no bodies. A body is refused unread, and Transfer-Encoding with the head.
    std::size_t max_body_bytes = 16 * 1024 * 1024;
    // A further connection closes one of the client with the most. It is the one without a request for
    // longest, or else the slowest receiver of an answer. No client keeps a place by being answered.
    std::size_t max_connections = 1024;
    std::size_t max_connections_of_client = 1024;      // of an IPv4 address or an IPv6 network of 64 bits
    std::size_t max_requests = 0;                      // of a connection; 0: no limit
    std::size_t max_requests_per_minute = 0;           // of a client; 0: no limit
    std::size_t max_unread_bytes = 256 * 1024 * 1024;  // of answers; above it, slow receivers are closed
    std::size_t socket_buffer_bytes = 0;               // in each direction; 0: the system's default
    // The system holds connections until their first bytes arrive, for some seconds. A silent client then
    // uses no place.
    bool defers_accept = false;
    Duration max_age = std::chrono::hours{24 * 365};   // of a connection, checked at each request
    Duration idle_timeout = std::chrono::seconds{60};  // until a request begins
    // Time from the first byte of a request to its last; also applies to a handshake.
    Duration request_timeout = std::chrono::seconds{60};
    Duration answer_timeout = std::chrono::seconds{60};  // for receiving an answer
    Duration drain_timeout = std::chrono::seconds{3};
    // Called with the head of a request; its body is empty. A response refuses the request without waiting
    // for its body, and closes the connection.
    std::function<std::optional<HttpResponse>(const HttpRequest&)> refuse;
    // Reports whether a request has proof of an honest client. Then it is answered regardless of earlier
    // requests, and its connection is closed after all others. Must not throw.
    std::function<bool(const HttpRequest&)> comes_first;
};

// Answers one request. An exception becomes status 500; its message is logged, not sent. A TransportError
// closes the connection instead, for servers that simulate a broken one.
using HttpHandler = std::function<asio::awaitable<HttpResponse>(HttpRequest)>;

class HttpServer : public Interface {
public:
    virtual std::uint16_t port() const = 0;
    // Serves until it is cancelled. Requests in progress then have `drain_timeout` to finish. Throws
    // system_error(operation_aborted) at the end. A response header "Connection: close" closes its
    // connection.
    virtual asio::awaitable<void> run() = 0;
};

// Binds and listens immediately. Throws std::runtime_error with address and port if that fails, any exception
// of `key_pair`, and std::invalid_argument if certificate or key are invalid.
std::unique_ptr<HttpServer> make_http_server(asio::any_io_executor executor, Clock& clock,
                                             HttpServerOptions options, HttpHandler handler);

}  // namespace base
