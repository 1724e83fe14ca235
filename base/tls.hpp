// TLS contexts from PEM text, and explanations of failed handshakes.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <string>

#include "base/certificate.hpp"
#include "base/http_client.hpp"
#include "base/net_stream.hpp"

namespace base {

// Both require TLS 1.2 or newer. They throw std::invalid_argument with the invalid option and never show key
// material.
asio::ssl::context make_client_context(const TlsClientOptions& options);
asio::ssl::context make_server_context(const KeyPair& pair);

// Returns the SHA-256 fingerprint of the certificate that the peer showed in the handshake; empty: none.
std::string presented_by(NetStream::Tls& tls);

// ServerVerification checks the server's certificate in one client handshake, and explains why it was
// refused.
class ServerVerification {
public:
    // `name` is the DNS name or address that the certificate must have. Both must outlive the handshake.
    ServerVerification(const TlsClientOptions& options, std::string name)
        : options_(options), name_(std::move(name)) {}

    // Sets SNI and verification on the stream; call before the handshake.
    void prepare(NetStream::Tls& tls);
    // Throws std::runtime_error if the pinned fingerprint differs. Call after a successful handshake.
    void check_pin(NetStream::Tls& tls) const;
    // Explains a failed handshake.
    std::string describe(NetStream::Tls& tls, const boost::system::error_code& error) const;

private:
    const TlsClientOptions& options_;
    std::string name_;
    std::string presented_;  // SHA-256 of the server's certificate, once known
};

}  // namespace base
