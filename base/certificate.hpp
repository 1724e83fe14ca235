// KeyPair is a certificate with its private key.
#pragma once

#include <string>

#include "base/clock.hpp"

namespace base {

struct KeyPair {
    std::string certificate_pem;  // a chain, the server's certificate first
    std::string key_pem;

    bool operator==(const KeyPair&) const = default;
};

// Makes a new P-256 key and a self-signed certificate, for a server whose clients do not verify it.
// `dns_name` becomes its subject and its alternative name. Throws std::runtime_error.
KeyPair make_self_signed(const std::string& dns_name, WallTime now, Duration validity);

}  // namespace base
