// Holds certificates in the order of their PEM file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/openssl.hpp"

namespace bootstrap {

using Certificates = std::vector<base::openssl::Certificate>;

// Throws std::invalid_argument if there is no readable certificate.
Certificates certificates_of(std::string_view pem);

std::string der_of(X509* certificate);

}  // namespace bootstrap
