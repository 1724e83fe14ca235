#include "base/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <cctype>
#include <chrono>
#include <stdexcept>

#include "base/http_date.hpp"
#include "base/openssl.hpp"

namespace base {
namespace {

namespace ssl = asio::ssl;

void expect(const boost::system::error_code& error, const char* option, const char* expected) {
    if (!error) return;
    // OpenSSL's text only concerns the encoding; it never shows the data.
    throw std::invalid_argument(std::string(option) + ": " + expected + " (" + error.message() + ")");
}

void use_key_pair(ssl::context& context, const std::string& certificate, const std::string& key) {
    boost::system::error_code error;
    context.use_certificate_chain(asio::buffer(certificate), error);
    expect(error, "certificate", "expected a PEM certificate");
    context.use_private_key(asio::buffer(key), ssl::context::pem, error);
    expect(error, "key", "expected the certificate's PEM private key without a passphrase");
    if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
        ERR_clear_error();
        throw std::invalid_argument("key: does not belong to the certificate");
    }
}

ssl::context make_context(ssl::context::method method) {
    ssl::context context(method);
    context.set_options(ssl::context::default_workarounds | ssl::context::no_compression);
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    // A later handshake on the same connection would bypass our checks and time limits.
    SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION);
    // OpenSSL would keep decrypted data, such as Secrets, until more arrive.
    SSL_CTX_set_options(context.native_handle(), SSL_OP_CLEANSE_PLAINTEXT);
    SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
    return context;
}

// Returns upper-case hex without colons.
std::string normalized(const std::string& fingerprint) {
    std::string out;
    for (char c : fingerprint) {
        if (c != ':') out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    const bool is_hex = std::ranges::all_of(out, [](unsigned char c) { return std::isxdigit(c); });
    if (out.size() != 64 || !is_hex) {
        throw std::invalid_argument(
            "fingerprint: expected a SHA-256 of 64 hexadecimal digits, colons allowed");
    }
    return out;
}

// Returns AA:BB:..., the form that Proxmox and openssl show.
std::string fingerprint_of(const X509* certificate) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
    std::string out;
    for (unsigned int i = 0; i < size; ++i) {
        if (i) out += ':';
        out += kHex[digest[i] >> 4];
        out += kHex[digest[i] & 15];
    }
    return out;
}

}  // namespace

ssl::context make_client_context(const TlsClientOptions& options) {
    auto context = make_context(ssl::context::tls_client);
    if (options.fingerprint_sha256) normalized(*options.fingerprint_sha256);
    boost::system::error_code error;
    if (!options.ca_bundle_pem.empty()) {
        context.add_certificate_authority(asio::buffer(options.ca_bundle_pem), error);
        expect(error, "CA bundle", "expected PEM certificates");
    } else {
        context.set_default_verify_paths(error);
    }
    if (options.client_certificate_pem.empty() != options.client_key_pem.empty()) {
        throw std::invalid_argument("client certificate and client key: both or none must be given");
    }
    if (!options.client_certificate_pem.empty()) {
        use_key_pair(context, options.client_certificate_pem, options.client_key_pem);
    }
    return context;
}

ssl::context make_server_context(const KeyPair& pair) {
    auto context = make_context(ssl::context::tls_server);
    use_key_pair(context, pair.certificate_pem, pair.key_pem);
    return context;
}

std::string presented_by(NetStream::Tls& tls) {
    const openssl::Certificate certificate(SSL_get1_peer_certificate(tls.native_handle()));
    return certificate ? fingerprint_of(certificate.get()) : std::string();
}

void ServerVerification::prepare(NetStream::Tls& tls) {
    auto* handle = tls.native_handle();
    boost::system::error_code not_an_address;
    asio::ip::make_address(name_, not_an_address);
    // RFC 6066: SNI only allows names.
    if (not_an_address) SSL_set_tlsext_host_name(handle, name_.c_str());
    if (options_.insecure_skip_verify || options_.fingerprint_sha256) {
        tls.set_verify_mode(ssl::verify_none);
        return;
    }
    if (not_an_address) {
        SSL_set_hostflags(handle, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        SSL_set1_host(handle, name_.c_str());
    } else {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), name_.c_str());
    }
    tls.set_verify_mode(ssl::verify_peer);
    tls.set_verify_callback([this](bool accepted, ssl::verify_context& verification) {
        if (!accepted && presented_.empty()) {
            presented_ = fingerprint_of(X509_STORE_CTX_get0_cert(verification.native_handle()));
        }
        return accepted;
    });
}

void ServerVerification::check_pin(NetStream::Tls& tls) const {
    if (!options_.fingerprint_sha256 || options_.insecure_skip_verify) return;
    const auto presented = presented_by(tls);
    if (presented.empty() || normalized(presented) != normalized(*options_.fingerprint_sha256)) {
        throw std::runtime_error("the server's certificate has SHA-256 fingerprint " + presented +
                                 ", which is not the one configured");
    }
}

std::string ServerVerification::describe(NetStream::Tls& tls, const boost::system::error_code& error) const {
    const auto verdict = SSL_get_verify_result(tls.native_handle());
    if (verdict == X509_V_OK || presented_.empty()) return "TLS handshake failed: " + error.message();
    std::string text = "the server's certificate was refused: ";
    text += X509_verify_cert_error_string(verdict);
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
        text += ", it is not valid for " + name_;
    } else {
        text +=
            options_.ca_bundle_pem.empty() ? " by the system's trust store" : " by the CA bundle configured";
    }
    if (verdict == X509_V_ERR_CERT_NOT_YET_VALID || verdict == X509_V_ERR_CERT_HAS_EXPIRED)
        text += ". This host's clock says " + format_http_date(std::chrono::system_clock::now()) +
                "; if that is wrong, set it";
    return text + " (certificate SHA-256 " + presented_ + ")";
}

}  // namespace base
