// A server certificate like the one that Proxmox VE makes for itself. An authority signs it that only its
// cluster knows, and the server does not send that authority. It is made at each start.
#pragma once

#include <string>

#include "base/certificate.hpp"

namespace proxmox_simulator {

struct Certificate : base::KeyPair {
    std::string fingerprint_sha256;  // in the notation of Proxmox: AB:CD:...
    std::string authority_pem;       // Proxmox has it in /etc/pve/pve-root-ca.pem
};

// Makes a certificate for 127.0.0.1, localhost and `common_name` that is valid for a year. Throws
// std::runtime_error if OpenSSL fails.
Certificate make_certificate(const std::string& common_name);

}  // namespace proxmox_simulator
