#include "test/simulators/proxmox/core/authentication.hpp"

#include <charconv>

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

constexpr std::int64_t kTicketLifetime = 2 * 3600;
constexpr std::int64_t kClockSkew = 300;

std::string ticket_cookie(std::string_view cookies) {
    for (const auto& cookie : split(cookies, ';')) {
        auto text = trim(cookie);
        constexpr std::string_view kName = "PVEAuthCookie=";
        if (text.starts_with(kName)) return percent_decode(text.substr(kName.size()));
    }
    return {};
}

}  // namespace

const User* active_user(const World& world, const std::string& id, std::int64_t now) {
    auto user = world.users.find(id);
    if (user == world.users.end() || !user->second.enabled) return nullptr;
    return user->second.expire != 0 && user->second.expire < now ? nullptr : &user->second;
}

std::string Authentication::identify(const World& world, const base::HttpRequest& request,
                                     std::int64_t now) const {
    auto header = request.headers.find("Authorization").value_or("");
    if (header.starts_with("PVEAPIToken=") || header.starts_with("PVEAPIToken ")) {
        return by_token(world, header.substr(std::string_view("PVEAPIToken=").size()), now);
    }
    auto ticket = ticket_cookie(request.headers.find("Cookie").value_or(""));
    if (ticket.empty()) throw RawError(401, "No ticket");
    auto user = by_ticket(world, ticket, now);
    if (request.method == "GET") return user;
    auto csrf = split(request.headers.find("CSRFPreventionToken").value_or(""), ':');
    bool valid =
        csrf.size() == 2 && is_fresh(csrf[0], now) && csrf[1] == sign("csrf:" + csrf[0] + ":" + user);
    if (!valid) throw RawError(401, "Permission denied - invalid csrf token");
    return user;
}

std::string Authentication::by_token(const World& world, std::string_view credentials,
                                     std::int64_t now) const {
    auto equals = credentials.find('=');
    auto id = std::string(credentials.substr(0, equals));
    auto token = world.tokens.find(id);
    bool known = equals != std::string_view::npos && token != world.tokens.end() &&
                 active_user(world, token->second.user, now) &&
                 (token->second.expire == 0 || token->second.expire >= now) &&
                 token->second.secret == credentials.substr(equals + 1);
    if (!known) throw RawError(401, "Authentication failed!");
    return id;
}

std::string Authentication::by_ticket(const World& world, const std::string& ticket, std::int64_t now) const {
    auto parts = split(ticket, ':');
    bool valid =
        parts.size() == 5 && active_user(world, parts[1], now) && is_valid_ticket(parts[1], ticket, now);
    if (!valid) throw RawError(401, "permission denied - invalid PVE ticket");
    return parts[1];
}

std::string Authentication::make_ticket(const std::string& user, std::int64_t now) const {
    auto plain = "PVE:" + user + ":" + hex(static_cast<std::uint64_t>(now), 8);
    return plain + "::" + sign(plain);
}

// Proxmox escapes the colons of the data, as they separate the parts of a ticket. The user is only in the
// signature.
std::string Authentication::make_challenge(const std::string& user, const std::string& challenge,
                                           std::int64_t now) const {
    std::string escaped;
    for (char c : challenge) escaped += c == ':' ? std::string("%3A") : std::string(1, c);
    auto plain = "PVE:!tfa!" + escaped + ":" + hex(static_cast<std::uint64_t>(now), 8);
    return plain + "::" + sign(plain + ":" + user);
}

bool Authentication::is_valid_challenge(const std::string& user, const std::string& ticket,
                                        std::int64_t now) const {
    auto parts = split(ticket, ':');
    return parts.size() == 5 && parts[1].starts_with("!tfa!") && is_fresh(parts[2], now) &&
           parts[4] == sign("PVE:" + parts[1] + ":" + parts[2] + ":" + user);
}

std::string Authentication::make_csrf_token(const std::string& user, std::int64_t now) const {
    auto time = hex(static_cast<std::uint64_t>(now), 8);
    return time + ":" + sign("csrf:" + time + ":" + user);
}

bool Authentication::is_valid_ticket(const std::string& user, const std::string& ticket,
                                     std::int64_t now) const {
    auto parts = split(ticket, ':');
    return parts.size() == 5 && parts[1] == user && is_fresh(parts[2], now) &&
           parts[4] == sign("PVE:" + user + ":" + parts[2]);
}

std::string Authentication::sign(const std::string& text) const {
    return sha1_hex(key_ + text);
}

bool Authentication::is_fresh(const std::string& hexadecimal_time, std::int64_t now) const {
    std::int64_t time = 0;
    auto [end, error] =
        std::from_chars(hexadecimal_time.data(), hexadecimal_time.data() + hexadecimal_time.size(), time, 16);
    if (error != std::errc{} || end != hexadecimal_time.data() + hexadecimal_time.size()) return false;
    return now - time <= kTicketLifetime && time - now <= kClockSkew;
}

}  // namespace proxmox_simulator
