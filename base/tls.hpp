// TLS contexts from PEM text, and what a failed handshake means in words.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <string>

#include "base/certificate.hpp"
#include "base/http_client.hpp"
#include "base/net_stream.hpp"

namespace base {

// TLS 1.2 or newer. Throw std::invalid_argument naming the option that is wrong; never show key material.
asio::ssl::context make_client_context(const TlsClientOptions& options);
asio::ssl::context make_server_context(const KeyPair& pair);

// One client handshake: what to expect of the server's certificate, and why it was refused.
class ServerVerification {
public:
    // `name`: DNS name or address that the certificate must carry. Both live as long as the handshake.
    ServerVerification(const TlsClientOptions& options, std::string name)
        : options_(options), name_(std::move(name)) {}

    // Sets SNI and verification on the stream; call before the handshake.
    void prepare(NetStream::Tls& tls);
    // After a handshake that succeeded: throws std::runtime_error if the pinned fingerprint differs.
    void check_pin(NetStream::Tls& tls) const;
    // After a handshake that failed.
    std::string describe(NetStream::Tls& tls, const boost::system::error_code& error) const;

private:
    const TlsClientOptions& options_;
    std::string name_;
    std::string presented_;  // SHA-256 of the certificate shown, once known
};

}  // namespace base
