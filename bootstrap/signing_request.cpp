#include "bootstrap/signing_request.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "api/bytes.hpp"
#include "base/hex.hpp"
#include "base/openssl.hpp"
#include "base/sha256.hpp"

namespace bootstrap {

namespace {

using base::openssl::Freed;
using Request = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE REQUEST-----\n";
constexpr std::string_view kEnd = "-----END CERTIFICATE REQUEST-----";

// ErrorsCleared clears OpenSSL's errors, which it keeps per thread. An error left here must
// not look like a connection's error.
struct ErrorsCleared {
    ErrorsCleared() = default;
    ErrorsCleared(const ErrorsCleared&) = delete;
    ErrorsCleared& operator=(const ErrorsCleared&) = delete;
    ~ErrorsCleared() { ERR_clear_error(); }
};

[[noreturn]] void refuse_request(const std::string& why) {
    throw std::invalid_argument("the request " + why);
}

// Returns the decoded lines of base64 between the two marks. It accepts no
// headers, second block or other text.
std::string der_of(std::string_view pem) {
    if (pem.size() > kLargestSigningRequest)
        refuse_request("has " + std::to_string(pem.size()) + " bytes; at most " +
                       std::to_string(kLargestSigningRequest) + " are read");
    if (pem.ends_with('\n')) pem.remove_suffix(1);
    if (!pem.starts_with(kBegin) || !pem.ends_with(kEnd) || pem.size() < kBegin.size() + kEnd.size())
        refuse_request("is not exactly one PEM block CERTIFICATE REQUEST");
    pem.remove_prefix(kBegin.size());
    pem.remove_suffix(kEnd.size());
    std::string base64(pem);
    std::erase(base64, '\n');
    try {
        return api::Bytes::parse(base64).value;
    } catch (const std::invalid_argument&) {
        refuse_request("is not base64 between its PEM marks");
    }
}

// Requires one encoding. OpenSSL accepts several forms of lengths and bit
// strings, while the signer accepts one.
void check_encoding(X509_REQ* request, const std::string& der) {
    unsigned char* again = nullptr;
    const int length = i2d_X509_REQ(request, &again);
    const bool same = length > 0 && der == std::string_view(reinterpret_cast<const char*>(again),
                                                            static_cast<std::size_t>(length));
    OPENSSL_free(again);
    constexpr long kUnusedBits = 7;
    const ASN1_BIT_STRING* signature = nullptr;
    X509_REQ_get0_signature(request, &signature, nullptr);
    if (!same || (signature->flags & kUnusedBits) != 0) refuse_request("is not in DER");
}

Request decode(const std::string& der) {
    const auto* begin = reinterpret_cast<const unsigned char*>(der.data());
    const auto* end = begin;
    Request request(d2i_X509_REQ(nullptr, &end, static_cast<long>(der.size())));
    if (!request) refuse_request("is not PKCS#10");
    if (end != begin + der.size()) refuse_request("has bytes after its end");
    check_encoding(request.get(), der);
    return request;
}

// Requires a kind and size that kubelets create. Others can take seconds to verify.
void check_key(EVP_PKEY* key) {
    const int bits = EVP_PKEY_get_bits(key);
    switch (EVP_PKEY_get_base_id(key)) {
        case EVP_PKEY_RSA:
            if (bits < 2048 || bits > 4096) refuse_request("has an RSA key of other than 2048 to 4096 bits");
            return;
        case EVP_PKEY_EC: {
            std::array<char, 32> name{};
            std::size_t length = 0;
            EVP_PKEY_get_group_name(key, name.data(), name.size(), &length);
            const std::string_view curve(name.data(), std::min(length, name.size()));
            if (curve == "prime256v1" || curve == "secp384r1" || curve == "secp521r1") return;
            refuse_request("has a key on another curve than P-256, P-384 and P-521");
        }
        default:
            refuse_request("has a key that is neither ECDSA nor RSA");
    }
}

std::string key_digest(X509_REQ* request) {
    unsigned char* der = nullptr;
    const int length = i2d_X509_PUBKEY(X509_REQ_get_X509_PUBKEY(request), &der);
    if (length <= 0) refuse_request("has a key that cannot be read");
    const auto digest = base::sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(length)});
    OPENSSL_free(der);
    return base::hex(digest);
}

std::string bytes_of(const ASN1_STRING* text) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
            static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// Returns the only value of that kind. String types other than these two have different encodings.
std::string subject_part(const X509_NAME* subject, int kind, const char* what) {
    const int at = X509_NAME_get_index_by_NID(subject, kind, -1);
    if (at < 0) refuse_request(std::string("has no ") + what + " in its subject");
    const auto* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
    const int type = ASN1_STRING_type(value);
    if (type != V_ASN1_PRINTABLESTRING && type != V_ASN1_UTF8STRING)
        refuse_request(std::string("has a ") + what + " that is neither a PrintableString nor a UTF8String");
    return bytes_of(value);
}

std::string address_text(const ASN1_STRING* bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int length = ASN1_STRING_length(bytes);
    if (length != 4 && length != 16) refuse_request("has an IP address of neither 4 nor 16 bytes");
    inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes), text.data(), text.size());
    return text.data();
}

// Returns the alternative names, the only extension of the only attribute. If there were several, OpenSSL and
// the signer would choose different ones.
Names alternative_names(X509_REQ* request) {
    const int attributes = X509_REQ_get_attr_count(request);
    if (attributes == 0) return nullptr;
    auto* attribute = X509_REQ_get_attr(request, 0);
    if (attributes != 1 || OBJ_obj2nid(X509_ATTRIBUTE_get0_object(attribute)) != NID_ext_req ||
        X509_ATTRIBUTE_count(attribute) != 1)
        refuse_request("has other attributes than one list of extensions");
    const auto free_all = [](STACK_OF(X509_EXTENSION) * list) {
        sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
    };
    const std::unique_ptr<STACK_OF(X509_EXTENSION), decltype(free_all)> extensions(
        X509_REQ_get_extensions(request), free_all);
    if (!extensions || sk_X509_EXTENSION_num(extensions.get()) != 1)
        refuse_request("has other extensions than one for alternative names");
    auto* extension = sk_X509_EXTENSION_value(extensions.get(), 0);
    if (OBJ_obj2nid(X509_EXTENSION_get_object(extension)) != NID_subject_alt_name)
        refuse_request("has an extension that is not for alternative names");
    Names names(static_cast<GENERAL_NAMES*>(X509V3_EXT_d2i(extension)));
    if (!names || sk_GENERAL_NAME_num(names.get()) == 0)
        refuse_request("has alternative names that cannot be read");
    return names;
}

void read_alternative_names(X509_REQ* request, SigningRequest& into) {
    const auto names = alternative_names(request);
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const auto* name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type == GEN_DNS) {
            into.dns_names.push_back(bytes_of(name->d.dNSName));
        } else if (name->type == GEN_IPADD) {
            into.ip_addresses.push_back(address_text(name->d.iPAddress));
        } else {
            refuse_request("has alternative names that are neither DNS names nor IP addresses");
        }
    }
}

}  // namespace

SigningRequest parse_signing_request(std::string_view pem) {
    const ErrorsCleared cleared;
    const auto request = decode(der_of(pem));
    auto* key = X509_REQ_get0_pubkey(request.get());
    if (!key) refuse_request("has a key that cannot be read");
    check_key(key);
    if (X509_REQ_verify(request.get(), key) != 1) refuse_request("is not signed with its own key");
    const auto* subject = X509_REQ_get_subject_name(request.get());
    SigningRequest result;
    result.organization = subject_part(subject, NID_organizationName, "O");
    result.common_name = subject_part(subject, NID_commonName, "CN");
    if (X509_NAME_entry_count(subject) != 2)
        refuse_request("has a subject of other parts than one O and one CN");
    read_alternative_names(request.get(), result);
    result.key_sha256 = key_digest(request.get());
    return result;
}

}  // namespace bootstrap
