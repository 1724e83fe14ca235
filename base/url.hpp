// URLs and percent-encoding (RFC 3986) and HTML form bodies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace base {

struct Url {
    std::string scheme;  // lower case
    std::string user;
    std::string password;
    std::string host;        // a name or an address; IPv6 without brackets
    std::uint16_t port = 0;  // the scheme's default if the URL has none
    std::string path;

    // Returns "host:port" with IPv6 in brackets, for the Host header and messages. It has no credentials.
    std::string authority() const;
};

// Accepts http and https. Throws std::invalid_argument with the reason, without the credentials.
Url parse_url(std::string_view text);

// Converts everything except letters, digits and -._~ to %XX. The result is valid in a path segment, a query
// value and a form value.
std::string percent_encode(std::string_view text);

using FormFields = std::vector<std::pair<std::string, std::string>>;
// Returns a=1&b=x%20y, a query (without '?') or an application/x-www-form-urlencoded body.
std::string encode_form(const FormFields& fields);

}  // namespace base
