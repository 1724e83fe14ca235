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
    std::optional<std::string> fingerprint_sha256;  // trust only this certificate; hex, colons allowed
    bool insecure_skip_verify = false;
    std::string server_name;  // SNI and verified name; empty: the URL's host
    std::string client_certificate_pem;
    std::string client_key_pem;
};

struct HttpClientOptions {
    std::string url;  // https://host:port or http://host:port; a path is ignored
    TlsClientOptions tls;
    std::string proxy_url;  // http://[user:password@]host:port, used with CONNECT; empty: direct
    // Limits concurrent send() calls; further ones wait, within their timeout. An open() always has a
    // separate connection.
    std::size_t max_connections = 16;
    // A longer body causes a TransportError. This does not apply to open().
    std::uint64_t max_response_bytes = 256 * 1024 * 1024;
    // Covers name lookup, TCP, proxy and TLS together.
    Duration connect_timeout = std::chrono::seconds{5};
    // A connection idle for longer is not reused. Proxmox closes after 5 s, kube-apiserver after minutes.
    Duration idle_timeout = std::chrono::seconds{60};
};

// ResponseTooLong means that the answer exceeds HttpClientOptions::max_response_bytes.
class ResponseTooLong final : public TransportError {
public:
    using TransportError::TransportError;
};

// Makes a client. A server may close an idle connection, so a GET is repeated once on a fresh connection.
// This happens if a reused one ends before the first byte of a response. Nothing else is repeated. Throws
// std::invalid_argument with the invalid option (URL, PEM data, fingerprint).
std::unique_ptr<HttpTransport> make_http_client(asio::any_io_executor executor, Clock& clock,
                                                HttpClientOptions options);

}  // namespace base
