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

void add_extension(X509* certificate, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
    check(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void set_name(X509* certificate, const std::string& common_name) {
    auto* name = X509_get_subject_name(certificate);
    check(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                                     0) == 1);
    check(X509_set_issuer_name(certificate, name) == 1);
}

std::string fingerprint(X509* certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    check(X509_digest(certificate, EVP_sha256(), digest.data(), &size) == 1);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += (i == 0 ? "" : ":") + hex(digest[i], 2);
    return text;
}

}  // namespace

Certificate make_certificate(const std::string& common_name) {
    constexpr long kYear = 365L * 24 * 3600;
    Key key(EVP_EC_gen("P-256"));
    base::openssl::Certificate certificate(X509_new());
    check(key && certificate);
    check(X509_set_version(certificate.get(), 2) == 1);
    check(ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) == 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kYear);
    check(X509_set_pubkey(certificate.get(), key.get()) == 1);
    set_name(certificate.get(), common_name);
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate.get(), NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost,DNS:" + common_name);
    check(X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0);
    Bio certificate_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
    check(PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1);
    check(PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
    return {{read_all(certificate_text.get()), read_all(key_text.get())}, fingerprint(certificate.get())};
}

}  // namespace proxmox_simulator
