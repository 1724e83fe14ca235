// What a kubelet's request for a certificate (PKCS#10) says, read more strictly than the signer reads it:
// two readers must not see two different things in the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bootstrap {

struct SigningRequest {
    std::string organization;
    std::string common_name;
    std::vector<std::string> dns_names;
    std::vector<std::string> ip_addresses;  // in canonical form
    // SHA-256 of the public key (SubjectPublicKeyInfo) in hexadecimal: which key asks.
    std::string key_sha256;
    bool operator==(const SigningRequest&) const = default;
};

// A kubelet's takes less than 1 KiB, with hundreds of addresses a few.
inline constexpr std::size_t kLargestSigningRequest = 16 * 1024;

// Of exactly one PEM block. Throws std::invalid_argument that says what a kubelet's request would not have:
// another encoding, a signature that does not fit, a subject of other parts than one O and one CN, an
// extension besides the alternative names, alternative names besides DNS names and IP addresses.
SigningRequest parse_signing_request(std::string_view pem);

}  // namespace bootstrap
