// A CA certificate for tests, and the hash of its public key as other tools compute it.
#pragma once

#include <string>

namespace test {

// This command made it: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj
// /CN=kubernetes -days 36500`.
extern const std::string kCACertificate;
// This command computed it: `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | sha256sum`.
extern const std::string kCAHash;

// An intermediate CA, such as a user may give to K3s, and the root that signed it.
extern const std::string kIntermediateCertificate;
extern const std::string kRootCertificate;
// The command `openssl x509 -outform der | sha256sum` computed it from the root.
extern const std::string kRootFingerprint;

}  // namespace test
