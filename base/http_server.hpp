// A small HTTP/1.1 server for probes, metrics, boot data and the simulators; TLS if a certificate is given.
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
    // Empty: all addresses of the host, of both families where it has IPv6.
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free port
    // Null: plain HTTP. Asked once at first, and at each handshake, so that a certificate can be renewed:
    // what it throws then, or a pair that does not fit, is logged, and the handshake goes on with the last
    // good one.
    std::function<KeyPair()> key_pair;
    // Bounds whatever is not a body: request line, headers, sizes and extensions of chunks, trailers.
    std::size_t max_header_bytes = 8 * 1024;
    // 0: for servers that only tell; a body is refused unread, and Transfer-Encoding with the head.
    std::size_t max_body_bytes = 16 * 1024 * 1024;
    // One more closes another one, of the client that has the most: one that is without a request for
    // longest, else the one that reads its answer most slowly. Nobody keeps a place by being answered.
    std::size_t max_connections = 1024;
    std::size_t max_connections_of_client = 1024;      // an IPv4 address or an IPv6 network of 64 bits
    std::size_t max_requests = 0;                      // of a connection; 0: any number
    std::size_t max_requests_per_minute = 0;           // of a client; 0: any number
    std::size_t max_unread_bytes = 256 * 1024 * 1024;  // of answers; beyond, who reads most slowly is closed
    std::size_t socket_buffer_bytes = 0;               // in each direction; 0: as the system has it
    // The system keeps connections until their first bytes are there, for some seconds: who says nothing
    // takes no place.
    bool defers_accept = false;
    Duration max_age = std::chrono::hours{24 * 365};   // of a connection, when it asks for something
    Duration idle_timeout = std::chrono::seconds{60};  // for a request to begin
    // From the first byte of a request to its last; of a handshake, too.
    Duration request_timeout = std::chrono::seconds{60};
    Duration answer_timeout = std::chrono::seconds{60};  // for an answer to be taken
    Duration drain_timeout = std::chrono::seconds{3};
    // Asked when the head of a request has been read (its body is empty then): a response refuses the request
    // without waiting for its body, and ends the connection.
    std::function<std::optional<HttpResponse>(const HttpRequest&)> refuse;
    // Reports whether a request shows what only an honest client can have: it is answered whatever its client
    // has asked before, and its connection is closed after all others. Must not throw.
    std::function<bool(const HttpRequest&)> comes_first;
};

// Answers one request; an exception becomes status 500 with its message logged, not sent. A TransportError
// hangs up instead, for servers that play a broken one.
using HttpHandler = std::function<asio::awaitable<HttpResponse>(HttpRequest)>;

class HttpServer : public Interface {
public:
    virtual std::uint16_t port() const = 0;
    // Serves until cancelled; then requests being answered have `drain_timeout` to finish. Throws
    // system_error(operation_aborted) at the end. A response header "Connection: close" ends its connection.
    virtual asio::awaitable<void> run() = 0;
};

// Binds and listens at once; throws std::runtime_error naming address and port if that fails, what `key_pair`
// throws, and std::invalid_argument if there is TLS and certificate or key are wrong.
std::unique_ptr<HttpServer> make_http_server(asio::any_io_executor executor, Clock& clock,
                                             HttpServerOptions options, HttpHandler handler);

}  // namespace base
