#include "base/url.hpp"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <stdexcept>

namespace base {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    throw std::invalid_argument("broken percent escape");
}

std::string decode_form_value(std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return percent_decode(spaced);
}

}  // namespace

std::string Url::authority() const {
    auto name = host.find(':') == std::string::npos ? host : '[' + host + ']';
    return name + ':' + std::to_string(port);
}

Url parse_url(std::string_view text) {
    auto parsed = boost::urls::parse_uri(boost::urls::string_view(text.data(), text.size()));
    if (!parsed) throw std::invalid_argument("not a URL such as https://host:port");
    Url url;
    url.scheme = std::string(parsed->scheme());
    std::transform(url.scheme.begin(), url.scheme.end(), url.scheme.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
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

std::string percent_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (i + 2 >= text.size()) throw std::invalid_argument("broken percent escape");
        out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
        i += 2;
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

FormFields decode_form(std::string_view text) {
    FormFields fields;
    while (!text.empty()) {
        auto field = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), field.size() + 1));
        if (field.empty()) continue;
        auto name = field.substr(0, field.find('='));
        auto value = name.size() < field.size() ? field.substr(name.size() + 1) : std::string_view();
        fields.emplace_back(decode_form_value(name), decode_form_value(value));
    }
    return fields;
}

}  // namespace base
