// Serves boot data over HTTP to machines that know their address. The address is the secret: its holder may
// read. https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
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

// Returns a machine's key in its address: the token's public ID and a digest that requires the token's
// secret. It is valid as long as the token. Any process that can read the token can compute it.
std::string seed_key(const Token& token);
// Returns the token's ID in a key; empty: the key contains none.
std::string token_id_of_key(std::string_view key);
// Compares in constant time.
bool is_seed_key_of(std::string_view key, const Token& token);

class SeedSource : public base::Interface {
public:
    // Returns nullopt if no such key exists, or no longer. An exception causes status 503,
    // so that the machine asks again.
    virtual boost::asio::awaitable<std::optional<Seed>> seed(std::string key) = 0;
    // Reports, without any request, whether the key is right or cannot be judged yet.
    virtual bool may_be_right(std::string_view key) const = 0;
};

// This image contains all files. A BMC can insert it as virtual media.
inline constexpr std::string_view kSeedImage = "seed.iso";

// Answers GET and HEAD of <anything>/<key>/<file> with the files of NoCloud (user-data, meta-data,
// vendor-data and network-config) and with their image. GET may request a range. Never reveals or logs a key.
// A wrong key ends the connection. `source` must outlive the handler.
base::HttpHandler make_seed_handler(SeedSource& source);
// Reports whether a request has a key that may be right. `source` must outlive the function.
std::function<bool(const base::HttpRequest&)> make_seed_precedence(const SeedSource& source);

// Returns a part for BMCs, which read virtual media block by block.
// https://www.rfc-editor.org/rfc/rfc9110#section-14
// It is the complete answer 200, or the part in the header Range: 206, or 416 if the content ends before it.
// An empty, unknown or multi-part `range` yields the complete answer, as the RFC permits.
base::HttpResponse part_of(base::HttpResponse complete, std::string_view range);

}  // namespace bootstrap
