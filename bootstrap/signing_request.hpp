// Parses a kubelet's request for a certificate (PKCS#10), more strictly than the signer. Two readers must
// never read different things from the same bytes.
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
    // SHA-256 of the public key (SubjectPublicKeyInfo) in hexadecimal, which identifies the requester's key.
    std::string key_sha256;
    bool operator==(const SigningRequest&) const = default;
};

// A kubelet's request takes less than 1 KiB, or a few with hundreds of addresses.
inline constexpr std::size_t kLargestSigningRequest = 16 * 1024;

// Parses exactly one PEM block. Throws std::invalid_argument for anything that a
// kubelet's request would not contain:
// - another encoding, or a signature that does not fit
// - a subject of other parts than one O and one CN
// - an extension other than the alternative names
// - alternative names other than DNS names and IP addresses.
SigningRequest parse_signing_request(std::string_view pem);

}  // namespace bootstrap
