#include "test/component/base/certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <stdexcept>

#include "base/openssl.hpp"

namespace test {
namespace {

using base::openssl::Bio;
using base::openssl::Certificate;
using base::openssl::Key;

void require(bool ok) {
    if (!ok) throw std::runtime_error("OpenSSL failed to make a test certificate");
}

std::string content(BIO* bio) {
    char* data = nullptr;
    auto size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
    Bio bio(BIO_new(BIO_s_mem()));
    require(PEM_write_bio_X509(bio.get(), certificate) == 1);
    return content(bio.get());
}

std::string pem_of(EVP_PKEY* key) {
    Bio bio(BIO_new(BIO_s_mem()));
    require(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
    return content(bio.get());
}

std::string fingerprint_of(X509* certificate) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    require(X509_digest(certificate, EVP_sha256(), digest, &size) == 1);
    char hex[3];
    std::string out;
    for (unsigned int i = 0; i < size; ++i) {
        std::snprintf(hex, sizeof hex, "%02x", digest[i]);
        out += (i ? ":" : "") + std::string(hex);
    }
    return out;
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    auto* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    require(extension != nullptr);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

// Makes a certificate, which is self-signed if there is no issuer.
KeyPair make(const CertificateWish& wish, X509* issuer, EVP_PKEY* issuer_key) {
    Key key(EVP_EC_gen("P-256"));
    Certificate certificate(X509_new());
    require(key && certificate);
    X509_set_version(certificate.get(), 2);
    std::int64_t serial = 0;
    RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 7);
    ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate.get()), serial);
    const long day = 24 * 3600;
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3 * day);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), wish.days_valid * day);
    X509_set_pubkey(certificate.get(), key.get());
    auto* name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(wish.common_name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), issuer ? X509_get_subject_name(issuer) : name);
    auto* signer = issuer ? issuer : certificate.get();
    extend(certificate.get(), signer, NID_basic_constraints,
           issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (!wish.names.empty()) extend(certificate.get(), signer, NID_subject_alt_name, wish.names);
    require(X509_sign(certificate.get(), issuer_key ? issuer_key : key.get(), EVP_sha256()) > 0);
    return {{pem_of(certificate.get()), pem_of(key.get())}, fingerprint_of(certificate.get())};
}

Bio reader(const std::string& text) {
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

Authority::Authority(const std::string& name) : own_(make({name, "", 1}, nullptr, nullptr)) {}

KeyPair Authority::issue(const CertificateWish& wish) const {
    Certificate certificate(PEM_read_bio_X509(reader(own_.certificate_pem).get(), nullptr, nullptr, nullptr));
    Key key(PEM_read_bio_PrivateKey(reader(own_.key_pem).get(), nullptr, nullptr, nullptr));
    require(certificate && key);
    return make(wish, certificate.get(), key.get());
}

}  // namespace test
