// Boot data over HTTP: a machine that is told where fetches its own. The address is the secret: whoever has
// it may read. https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/http.hpp"
#include "base/http_server.hpp"
#include "base/interface.hpp"
#include "bootstrap/seed.hpp"
#include "bootstrap/token.hpp"

namespace bootstrap {

// What stands for a machine in its address: the token's public ID and a digest that only who has the token's
// secret can make. It is good as long as the token is, and any process that can read the token knows it.
std::string seed_key(const Token& token);
// The token's ID in a key; empty: the key holds no token.
std::string token_id_of_key(std::string_view key);
// Takes the same time whatever differs.
bool is_seed_key_of(std::string_view key, const Token& token);

class SeedSource : public base::Interface {
public:
    // nullopt: there is no such key, or none any more. An exception is answered with status 503, so that the
    // machine asks again.
    virtual boost::asio::awaitable<std::optional<Seed>> seed(std::string key) = 0;
    // Reports, without asking anybody, whether the key is right or cannot be judged yet.
    virtual bool may_be_right(std::string_view key) const = 0;
};

// The files in one image, which a BMC can insert as virtual media.
inline constexpr std::string_view kSeedImage = "seed.iso";

// Answers GET and HEAD of <anything>/<key>/<file> with the files of NoCloud: user-data, meta-data,
// vendor-data and network-config, and with the image of them. GET may ask for a range. Never tells or logs a
// key. A wrong key ends the connection. `source` must outlive the handler.
base::HttpHandler make_seed_handler(SeedSource& source);
// Reports whether a request has a key that may be right. `source` must outlive the function.
std::function<bool(const base::HttpRequest&)> make_seed_precedence(const SeedSource& source);

// BMCs read virtual media block by block: https://www.rfc-editor.org/rfc/rfc9110#section-14
// The complete answer 200, or the part of it that the header Range asks for: 206, or 416 if the content ends
// before it. `range` empty, not understood, or of several parts: the answer as it is, as the RFC allows.
base::HttpResponse part_of(base::HttpResponse complete, std::string_view range);

}  // namespace bootstrap
