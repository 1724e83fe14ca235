#include "base/url.hpp"

#include <boost/url/parse.hpp>
#include <stdexcept>

#include "base/text.hpp"

namespace base {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string Url::authority() const {
    auto name = host.find(':') == std::string::npos ? host : '[' + host + ']';
    return name + ':' + std::to_string(port);
}

Url parse_url(std::string_view text) {
    const auto literal = text.find('[');
    if (literal != std::string_view::npos && text.find('%', literal) < text.find(']', literal))
        throw std::invalid_argument("an IPv6 address with a zone is not supported, use one without");
    auto parsed = boost::urls::parse_uri(boost::urls::string_view(text.data(), text.size()));
    if (!parsed) throw std::invalid_argument("not a URL such as https://host:port");
    Url url;
    url.scheme = lower_case(parsed->scheme());
    if (url.scheme != "http" && url.scheme != "https") {
        throw std::invalid_argument("scheme \"" + url.scheme + "\" is not supported, use https or http");
    }
    url.user = parsed->user();
    url.password = parsed->password();
    url.host = parsed->host_address();
    if (url.host.empty()) throw std::invalid_argument("URL without a host");
    if (parsed->has_port() && parsed->port_number() == 0) {
        throw std::invalid_argument("the port of a URL is a number from 1 to 65535");
    }
    const std::uint16_t usual = url.scheme == "https" ? 443 : 80;
    url.port = parsed->has_port() ? parsed->port_number() : usual;
    url.path = std::string(parsed->encoded_path());
    return url;
}

std::string percent_encode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (char c : text) {
        if (is_unreserved(c)) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kHexDigits[byte >> 4];
        out += kHexDigits[byte & 15];
    }
    return out;
}

std::string encode_form(const FormFields& fields) {
    std::string out;
    for (const auto& [name, value] : fields) {
        if (!out.empty()) out += '&';
        out += percent_encode(name) + '=' + percent_encode(value);
    }
    return out;
}

}  // namespace base
