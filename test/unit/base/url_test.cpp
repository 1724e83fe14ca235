#include "base/url.hpp"

#include <boost/url/pct_string_view.hpp>
#include <stdexcept>

#include "test/support/catch.hpp"

TEST_CASE("a URL is taken apart, with the scheme's usual port") {
    auto url = base::parse_url("HTTPS://user:p%40ss@pve1.example/api?x");
    CHECK(url.scheme == "https");
    CHECK(url.user == "user");
    CHECK(url.password == "p@ss");
    CHECK(url.host == "pve1.example");
    CHECK(url.port == 443);
    CHECK(url.path == "/api");
    CHECK(url.authority() == "pve1.example:443");
    CHECK(base::parse_url("http://10.0.0.1").port == 80);
    CHECK(base::parse_url("http://10.0.0.1:8006").port == 8006);
}

TEST_CASE("an IPv6 address is bracketed only where it is written down") {
    auto url = base::parse_url("https://[fd00::1]:6443");
    CHECK(url.host == "fd00::1");
    CHECK(url.authority() == "[fd00::1]:6443");
    CHECK(base::parse_url("https://user:p%40ss@[fd00::1]:6443").host == "fd00::1");
}

TEST_CASE("what is no URL is refused without showing credentials") {
    auto refusal = [](const char* text) {
        try {
            base::parse_url(text);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refusal("pve1.example") == "not a URL such as https://host:port");
    CHECK(refusal("https://") == "URL without a host");
    CHECK(refusal("ftp://u:secret@x") == "scheme \"ftp\" is not supported, use https or http");
    CHECK(refusal("https://[fe80::1%25eth0]:6443") ==
          "an IPv6 address with a zone is not supported, use one without");
    CHECK(refusal("https://x:0") == "the port of a URL is a number from 1 to 65535");
    CHECK(refusal("https://x:70000") == "the port of a URL is a number from 1 to 65535");
    CHECK(refusal("https://u:secret@ x").find("secret") == std::string::npos);
}

TEST_CASE("percent-encoding comes back unchanged") {
    CHECK(base::percent_encode("a b/c?d=e&f%~é") == "a%20b%2Fc%3Fd%3De%26f%25~%C3%A9");
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    const auto encoded = base::percent_encode(all);
    CHECK(boost::urls::pct_string_view(encoded).decode() == all);
}

TEST_CASE("forms keep order and repeated names") {
    base::FormFields fields{{"net0", "virtio,bridge=vmbr0"}, {"tags", "a;b"}, {"tags", ""}};
    auto text = base::encode_form(fields);
    CHECK(text == "net0=virtio%2Cbridge%3Dvmbr0&tags=a%3Bb&tags=");
}
