#include "test/unit/bootstrap/signing_requests.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "base/openssl.hpp"

namespace test {
namespace {

using base::openssl::Freed;
using Request = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;

// Returns the same key in each process, so that runs can be compared. It is an ECPrivateKey (RFC 5915) of
// P-256, and OpenSSL computes its public part.
base::openssl::Key fixed_key(char byte) {
    constexpr std::string_view kBefore("\x30\x31\x02\x01\x01\x04\x20", 7);
    constexpr std::string_view kCurve("\xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07", 12);
    const auto der = std::string(kBefore) + std::string(32, byte) + std::string(kCurve);
    const auto* begin = reinterpret_cast<const unsigned char*>(der.data());
    base::openssl::Key key(d2i_AutoPrivateKey(nullptr, &begin, static_cast<long>(der.size())));
    if (!key) throw std::logic_error("OpenSSL reads no key");
    return key;
}

EVP_PKEY* request_key(std::size_t index) {
    static const std::array<base::openssl::Key, kRequestKeys> kKeys{fixed_key('a'), fixed_key('b'),
                                                                    fixed_key('c')};
    return kKeys.at(index).get();
}

void add_extension(STACK_OF(X509_EXTENSION) * extensions, const std::string& name, const std::string& text) {
    auto* extension = X509V3_EXT_conf(nullptr, nullptr, name.c_str(), text.c_str());
    if (!extension) throw std::logic_error("OpenSSL makes no extension of " + name + " " + text);
    sk_X509_EXTENSION_push(extensions, extension);
}

std::string signed_pem(X509_REQ* request, EVP_PKEY* key) {
    if (X509_REQ_sign(request, key, EVP_sha256()) <= 0) throw std::logic_error("the request was not signed");
    const base::openssl::Bio bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509_REQ(bio.get(), request);
    char* text = nullptr;
    const auto length = BIO_get_mem_data(bio.get(), &text);
    return {text, static_cast<std::size_t>(length)};
}

Request unsigned_request(const RequestParts& parts, EVP_PKEY* key) {
    Request request(X509_REQ_new());
    X509_REQ_set_pubkey(request.get(), key);
    auto* subject = X509_REQ_get_subject_name(request.get());
    const int type = parts.printable ? V_ASN1_PRINTABLESTRING : V_ASN1_UTF8STRING;
    for (const auto& [part, text] : parts.subject)
        X509_NAME_add_entry_by_txt(subject, part.c_str(), type,
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()), -1, 0);
    auto* extensions = sk_X509_EXTENSION_new_null();
    if (!parts.alternative_names.empty())
        add_extension(extensions, "subjectAltName", parts.alternative_names);
    for (const auto& [name, text] : parts.extensions) add_extension(extensions, name, text);
    if (sk_X509_EXTENSION_num(extensions) > 0) X509_REQ_add_extensions(request.get(), extensions);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    if (!parts.challenge_password.empty())
        X509_REQ_add1_attr_by_NID(request.get(), NID_pkcs9_challengePassword, MBSTRING_ASC,
                                  reinterpret_cast<const unsigned char*>(parts.challenge_password.data()),
                                  static_cast<int>(parts.challenge_password.size()));
    return request;
}

}  // namespace

RequestParts kubelet_request(const std::string& node_name, std::size_t key) {
    RequestParts parts;
    parts.subject = {{"O", "system:nodes"}, {"CN", "system:node:" + node_name}};
    parts.key = key;
    return parts;
}

std::string make_request(const RequestParts& parts) {
    const auto request = unsigned_request(parts, request_key(parts.key));
    return signed_pem(request.get(), request_key(parts.signed_with.value_or(parts.key)));
}

std::string make_weak_request(const std::string& node_name) {
    static const base::openssl::Key kWeak(EVP_RSA_gen(1024));
    const auto request = unsigned_request(kubelet_request(node_name, 0), kWeak.get());
    return signed_pem(request.get(), kWeak.get());
}

}  // namespace test
