#include "bootstrap/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <stdexcept>

namespace bootstrap {

Certificates certificates_of(std::string_view pem) {
    base::openssl::Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    Certificates found;
    while (base::openssl::Certificate certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
        found.push_back(std::move(certificate));
    }
    ERR_clear_error();  // the end of the text is reported as an error
    if (found.empty())
        throw std::invalid_argument("the cluster's CA contains no PEM certificate that can be read");
    return found;
}

std::string der_of(X509* certificate) {
    unsigned char* der = nullptr;
    const int length = i2d_X509(certificate, &der);
    if (length <= 0) throw std::invalid_argument("a CA certificate cannot be written as DER");
    std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(length));
    OPENSSL_free(der);
    return bytes;
}

}  // namespace bootstrap
