#include "bootstrap/seed_server.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/hex.hpp"
#include "base/log.hpp"
#include "bootstrap/iso_image.hpp"

namespace bootstrap {

namespace {

namespace asio = boost::asio;

constexpr std::string_view kPurpose = "boot data of ";
constexpr std::size_t kDigestBytes = 16;
constexpr int kOk = 200;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;
constexpr int kUnavailable = 503;

// SeedFile is a kind of content: the file's name and its part of the seed.
struct SeedFile {
    std::string_view name;
    std::function<std::string(const Seed&)> content;
    std::string_view type = "text/plain; charset=utf-8";
};

const std::array<SeedFile, 5>& seed_files() {
    static const std::array<SeedFile, 5> kFiles{{
        {"user-data", [](const Seed& seed) { return seed.user_data; }},
        {"meta-data", [](const Seed& seed) { return seed.meta_data; }},
        // Always requested: without an answer cloud-init waits and asks again.
        {"vendor-data", [](const Seed&) { return std::string(); }},
        // Requested too, even if there is nothing to configure.
        {"network-config", [](const Seed& seed) { return seed.network_config; }},
        // All files in one, for BMCs, which can only insert images.
        {kSeedImage, [](const Seed& seed) { return nocloud_image(seed); }, "application/octet-stream"},
    }};
    return kFiles;
}

const SeedFile* find_file(std::string_view name) {
    for (const auto& file : seed_files()) {
        if (file.name == name) return &file;
    }
    return nullptr;
}

struct Address {
    std::string key;
    std::string file;
};

// Returns the last two parts of the path; a load balancer may have added others before them.
Address address_of(std::string_view target) {
    const auto path = target.substr(0, target.find('?'));
    const auto file = path.rfind('/');
    if (file == std::string_view::npos || file == 0) return {};
    const auto before = path.substr(0, file);
    const auto key = before.rfind('/');
    if (key == std::string_view::npos) return {};
    return {std::string(before.substr(key + 1)), std::string(path.substr(file + 1))};
}

base::HttpResponse answer(int status, std::string body, std::string_view type = "text/plain; charset=utf-8") {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", std::string(type));
    response.headers.set("Cache-Control", "no-store");
    response.body = std::move(body);
    return response;
}

// Ends the connection, so that each guess of a key needs another connection.
base::HttpResponse not_found() {
    auto response = answer(kNotFound, "not found\n");
    response.headers.set("Connection", "close");
    return response;
}

// Returns the requested range; ranges are for GET alone. If-Range requests a part of one version. There are
// no versions here, so it gets the whole.
std::string_view range_of(const base::HttpRequest& request) {
    if (request.method != "GET" || request.headers.find("If-Range")) return {};
    return request.headers.find("Range").value_or(std::string_view());
}

asio::awaitable<base::HttpResponse> respond(SeedSource& source, base::HttpRequest request) {
    if (request.method != "GET" && request.method != "HEAD")
        co_return answer(kMethodNotAllowed, "only GET and HEAD\n");
    const auto address = address_of(request.target);
    const auto* file = find_file(address.file);
    if (!file || token_id_of_key(address.key).empty()) co_return not_found();
    std::optional<Seed> seed;
    std::string failure;
    try {
        seed = co_await source.seed(address.key);
    } catch (const boost::system::system_error& error) {
        if (error.code() == asio::error::operation_aborted) throw;
        failure = error.what();
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!failure.empty()) {
        // An exception that leaves here would be logged with the path.
        base::log::warning("Could not generate the boot data that a machine requested", {{"error", failure}});
        co_return answer(kUnavailable, "not available now\n");
    }
    if (!seed) co_return not_found();
    co_return part_of(answer(kOk, file->content(*seed), file->type), range_of(request));
}

}  // namespace

std::string seed_key(const Token& token) {
    const auto message = std::string(kPurpose) + token.id;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    HMAC(EVP_sha256(), token.secret.data(), static_cast<int>(token.secret.size()),
         reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest.data(), &size);
    return token.id + "-" + base::hex(std::span(digest).first(kDigestBytes));
}

std::string token_id_of_key(std::string_view key) {
    const auto dash = key.find('-');
    if (dash == std::string_view::npos || key.size() != dash + 1 + 2 * kDigestBytes) return {};
    const auto is_plain = [](std::string_view text) {
        return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string_view::npos;
    };
    if (!is_plain(key.substr(0, dash)) || !is_plain(key.substr(dash + 1))) return {};
    return std::string(key.substr(0, dash));
}

bool is_seed_key_of(std::string_view key, const Token& token) {
    const auto right = seed_key(token);
    return key.size() == right.size() && CRYPTO_memcmp(key.data(), right.data(), key.size()) == 0;
}

base::HttpHandler make_seed_handler(SeedSource& source) {
    return [&source](base::HttpRequest request) { return respond(source, std::move(request)); };
}

std::function<bool(const base::HttpRequest&)> make_seed_precedence(const SeedSource& source) {
    return [&source](const base::HttpRequest& request) {
        return source.may_be_right(address_of(request.target).key);
    };
}

namespace {

constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;
constexpr std::string_view kUnit = "bytes=";

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return value;
}

struct ByteRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // inclusive; less than `first`: nothing
};

// Returns nullopt if the range is not understood.
std::optional<ByteRange> parse(std::string_view range, std::uint64_t size) {
    if (!range.starts_with(kUnit)) return std::nullopt;
    range.remove_prefix(kUnit.size());
    const auto dash = range.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto from = range.substr(0, dash);
    const auto to = range.substr(dash + 1);
    if (from.empty()) {
        const auto length = number(to);
        if (!length) return std::nullopt;
        return *length == 0 ? ByteRange{1, 0} : ByteRange{size - std::min(*length, size), size - 1};
    }
    const auto first = number(from);
    const auto last = to.empty() ? std::optional(size - 1) : number(to);
    if (!first || !last || (!to.empty() && *last < *first)) return std::nullopt;
    return *first < size ? ByteRange{*first, std::min(*last, size - 1)} : ByteRange{1, 0};
}

}  // namespace

base::HttpResponse part_of(base::HttpResponse complete, std::string_view range) {
    complete.headers.set("Accept-Ranges", "bytes");
    const std::uint64_t size = complete.body.size();
    const auto part = size == 0 ? std::nullopt : parse(range, size);
    if (!part) return complete;
    const bool is_nothing = part->last < part->first;
    const auto span = is_nothing ? "*" : std::to_string(part->first) + "-" + std::to_string(part->last);
    complete.headers.set("Content-Range", "bytes " + span + "/" + std::to_string(size));
    complete.status = is_nothing ? kRangeNotSatisfiable : kPartialContent;
    complete.body =
        is_nothing ? std::string() : complete.body.substr(part->first, part->last - part->first + 1);
    return complete;
}

}  // namespace bootstrap
