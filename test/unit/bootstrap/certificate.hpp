// A CA certificate for tests, and the hash of its public key as other tools compute it.
#pragma once

#include <string>

namespace test {

// Made by `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=kubernetes
// -days 36500`.
extern const std::string kCACertificate;
// `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | sha256sum`
extern const std::string kCAHash;

// An intermediate CA, as K3s may be given one, and the root that signed it.
extern const std::string kIntermediateCertificate;
extern const std::string kRootCertificate;
// `openssl x509 -outform der | sha256sum` of the root.
extern const std::string kRootFingerprint;

}  // namespace test
