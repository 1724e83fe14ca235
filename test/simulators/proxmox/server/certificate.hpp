// A server certificate of the kind that Proxmox VE makes for itself: signed by an authority that only its
// cluster knows, and sent without that. Made anew at each start.
#pragma once

#include <string>

#include "base/certificate.hpp"

namespace proxmox_simulator {

struct Certificate : base::KeyPair {
    std::string fingerprint_sha256;  // as Proxmox shows it: AB:CD:...
    std::string authority_pem;       // /etc/pve/pve-root-ca.pem there
};

// For 127.0.0.1, localhost and `common_name`; valid for a year. Throws std::runtime_error if OpenSSL fails.
Certificate make_certificate(const std::string& common_name);

}  // namespace proxmox_simulator
