#include "base/certificate.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <stdexcept>

#include "base/openssl.hpp"

namespace base {
namespace {

using openssl::Bio;
using openssl::Certificate;
using openssl::Extension;
using openssl::Key;

void expect(bool success) {
    if (!success) throw std::runtime_error("OpenSSL could not make a self-signed certificate");
}

template <class Write>
std::string pem(Write write) {
    Bio bio(BIO_new(BIO_s_mem()));
    expect(bio && write(bio.get()) == 1);
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

void add_extension(X509* certificate, int type, const std::string& value) {
    Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, type, value.c_str()));
    expect(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void set_serial(X509* certificate) {
    std::uint64_t serial = 0;
    expect(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
    // RFC 5280 requires a positive number.
    expect(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1);
}

}  // namespace

KeyPair make_self_signed(const std::string& dns_name, WallTime now, Duration validity) {
    Key key(EVP_EC_gen("P-256"));
    Certificate certificate(X509_new());
    expect(key && certificate);
    auto* x509 = certificate.get();
    expect(X509_set_version(x509, X509_VERSION_3) == 1);
    set_serial(x509);
    const auto begin = std::chrono::system_clock::to_time_t(now);
    const auto end = begin + std::chrono::duration_cast<std::chrono::seconds>(validity).count();
    expect(ASN1_TIME_set(X509_getm_notBefore(x509), begin) && ASN1_TIME_set(X509_getm_notAfter(x509), end));
    auto* name = X509_get_subject_name(x509);
    // A subject's common name has at most 64 characters. Clients use the alternative name.
    const auto common_name = dns_name.substr(0, 64);
    expect(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(common_name.data()),
                                      static_cast<int>(common_name.size()), -1, 0) == 1);
    expect(X509_set_issuer_name(x509, name) == 1 && X509_set_pubkey(x509, key.get()) == 1);
    add_extension(x509, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(x509, NID_ext_key_usage, "serverAuth");
    add_extension(x509, NID_subject_alt_name, "DNS:" + dns_name);
    expect(X509_sign(x509, key.get(), EVP_sha256()) > 0);
    return {pem([&](BIO* bio) { return PEM_write_bio_X509(bio, x509); }), pem([&](BIO* bio) {
                return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
            })};
}

}  // namespace base
