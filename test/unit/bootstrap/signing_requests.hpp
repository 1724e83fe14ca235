// Makes PKCS#10 requests: valid ones, and some that no kubelet would make.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test {

inline constexpr std::size_t kRequestKeys = 3;

struct RequestParts {
    std::vector<std::pair<std::string, std::string>> subject;  // short name of each part, and its text
    bool printable = true;          // writes the subject in PrintableStrings, as Go does; otherwise in
                                    // UTF8Strings
    std::string alternative_names;  // in the notation of OpenSSL's configuration
    std::vector<std::pair<std::string, std::string>> extensions;  // name and text of further extensions
    std::string challenge_password;                               // attribute beside the extensions
    std::size_t key = 0;                                          // below kRequestKeys
    std::optional<std::size_t> signed_with;                       // another key that signs the request
};

RequestParts kubelet_request(const std::string& node_name, std::size_t key);
// Returns the request as PEM.
std::string make_request(const RequestParts& parts);
// Returns a request with a weak RSA key.
std::string make_weak_request(const std::string& node_name);

}  // namespace test
