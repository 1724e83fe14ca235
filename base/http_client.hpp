// A pool of HTTP/1.1 keep-alive connections to one server, over TLS 1.2+ or plain TCP.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/http.hpp"

namespace base {

struct TlsClientOptions {
    std::string ca_bundle_pem;                      // empty: the system's trust store
    std::optional<std::string> fingerprint_sha256;  // hex, colons allowed: trust exactly this certificate
    bool insecure_skip_verify = false;
    std::string server_name;  // SNI and verified name; empty: the URL's host
    std::string client_certificate_pem;
    std::string client_key_pem;
};

struct HttpClientOptions {
    std::string url;  // https://host:port or http://host:port; a path is ignored
    TlsClientOptions tls;
    std::string proxy_url;  // http://[user:password@]host:port, reached by CONNECT; empty: direct
    // Bounds concurrent send() calls; further ones wait, within their timeout. An open() has a connection of
    // its own.
    std::size_t max_connections = 16;
    // A longer body is a TransportError; does not apply to open().
    std::uint64_t max_response_bytes = 256 * 1024 * 1024;
    // Name lookup, TCP, proxy and TLS together.
    Duration connect_timeout = std::chrono::seconds{5};
    // A connection idle for longer is not used again. Proxmox closes after 5 s, kube-apiserver after minutes.
    Duration idle_timeout = std::chrono::seconds{60};
};

// The server answered, with more than HttpClientOptions::max_response_bytes.
class ResponseTooLong final : public TransportError {
public:
    using TransportError::TransportError;
};

// A GET is sent once more, on a fresh connection, if a reused one ends before the first byte of a response:
// the server had closed it while idle. Nothing else is ever repeated.
// Throws std::invalid_argument naming what is wrong with the options (URL, PEM data, fingerprint).
std::unique_ptr<HttpTransport> make_http_client(asio::any_io_executor executor, Clock& clock,
                                                HttpClientOptions options);

}  // namespace base
