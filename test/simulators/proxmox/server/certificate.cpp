#include "test/simulators/proxmox/server/certificate.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <stdexcept>

#include "base/openssl.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

using base::openssl::Bio;
using base::openssl::Extension;
using base::openssl::Key;

void check(bool succeeded) {
    if (!succeeded) throw std::runtime_error("making the server certificate: OpenSSL failed");
}

std::string read_all(BIO* bio) {
    char* data = nullptr;
    auto size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
    check(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void add_name(X509* certificate, const char* field, const std::string& value) {
    check(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), field, MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0) == 1);
}

std::string fingerprint(X509* certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    check(X509_digest(certificate, EVP_sha256(), digest.data(), &size) == 1);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += (i == 0 ? "" : ":") + hex(digest[i], 2);
    return text;
}

std::string pem_of(X509* certificate) {
    Bio text(BIO_new(BIO_s_mem()));
    check(PEM_write_bio_X509(text.get(), certificate) == 1);
    return read_all(text.get());
}

// Returns a certificate without a name, extensions and a signature.
base::openssl::Certificate blank_certificate(EVP_PKEY* key, long serial) {
    constexpr long kYear = 365L * 24 * 3600;
    base::openssl::Certificate certificate(X509_new());
    check(certificate && X509_set_version(certificate.get(), 2) == 1);
    check(ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial) == 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kYear);
    check(X509_set_pubkey(certificate.get(), key) == 1);
    return certificate;
}

base::openssl::Certificate make_authority(EVP_PKEY* key) {
    auto authority = blank_certificate(key, 1);
    auto* x509 = authority.get();
    add_name(x509, "CN", "Proxmox Virtual Environment");
    add_name(x509, "O", "PVE Cluster Manager CA");
    check(X509_set_issuer_name(x509, X509_get_subject_name(x509)) == 1);
    add_extension(x509, x509, NID_subject_key_identifier, "hash");
    add_extension(x509, x509, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(x509, x509, NID_key_usage, "critical,keyCertSign,cRLSign");
    check(X509_sign(x509, key, EVP_sha256()) != 0);
    return authority;
}

}  // namespace

Certificate make_certificate(const std::string& common_name) {
    Key authority_key(EVP_EC_gen("P-256")), key(EVP_EC_gen("P-256"));
    check(authority_key && key);
    const auto authority = make_authority(authority_key.get());
    const auto certificate = blank_certificate(key.get(), 2);
    auto* x509 = certificate.get();
    add_name(x509, "O", "Proxmox Virtual Environment");
    add_name(x509, "CN", common_name);
    check(X509_set_issuer_name(x509, X509_get_subject_name(authority.get())) == 1);
    add_extension(x509, authority.get(), NID_authority_key_identifier, "keyid:always");
    add_extension(x509, authority.get(), NID_basic_constraints, "CA:FALSE");
    add_extension(x509, authority.get(), NID_ext_key_usage, "serverAuth");
    add_extension(x509, authority.get(), NID_subject_alt_name,
                  "IP:127.0.0.1,DNS:localhost,DNS:" + common_name);
    check(X509_sign(x509, authority_key.get(), EVP_sha256()) != 0);
    Bio key_text(BIO_new(BIO_s_mem()));
    check(PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
    return {{pem_of(x509), read_all(key_text.get())}, fingerprint(x509), pem_of(authority.get())};
}

}  // namespace proxmox_simulator
