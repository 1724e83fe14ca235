// A self-signed server certificate, made anew at each start.
#pragma once

#include <string>

#include "base/certificate.hpp"

namespace proxmox_simulator {

struct Certificate : base::KeyPair {
    std::string fingerprint_sha256;  // as Proxmox shows it: AB:CD:...
};

// For 127.0.0.1, localhost and `common_name`; valid for a year. Throws std::runtime_error if OpenSSL fails.
Certificate make_certificate(const std::string& common_name);

}  // namespace proxmox_simulator
