// Makes PKCS#10 requests, good ones and such as no kubelet would make.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test {

inline constexpr std::size_t kRequestKeys = 3;

struct RequestParts {
    std::vector<std::pair<std::string, std::string>> subject;  // short name of the part, its text
    bool printable = true;          // the subject in PrintableStrings, as Go writes it; else in UTF8Strings
    std::string alternative_names;  // as OpenSSL's configuration has them
    std::vector<std::pair<std::string, std::string>> extensions;  // name, text: besides those
    std::string challenge_password;                               // an attribute besides the extensions
    std::size_t key = 0;                                          // below kRequestKeys
    std::optional<std::size_t> signed_with;                       // another key than its own
};

RequestParts kubelet_request(const std::string& node_name, std::size_t key);
// As PEM.
std::string make_request(const RequestParts& parts);
// Of a weak RSA key.
std::string make_weak_request(const std::string& node_name);

}  // namespace test
