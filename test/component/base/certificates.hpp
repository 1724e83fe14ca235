// A throw-away certificate authority and its certificates, made by OpenSSL in memory.
#pragma once

#include <string>

#include "base/certificate.hpp"

namespace test {

struct KeyPair : base::KeyPair {
    std::string fingerprint_sha256;
};

struct CertificateWish {
    std::string common_name;
    std::string names;   // as in a config file: "DNS:localhost,IP:127.0.0.1"; empty: no names
    int days_valid = 1;  // negative: expired
};

class Authority {
public:
    explicit Authority(const std::string& name);
    const std::string& certificate_pem() const { return own_.certificate_pem; }
    KeyPair issue(const CertificateWish& wish) const;

private:
    KeyPair own_;
};

}  // namespace test
