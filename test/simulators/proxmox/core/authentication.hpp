// Identifies the sender of a request by an API token in a header, or by a ticket in a cookie with its CSRF
// token.
#pragma once

#include <string>

#include "base/http.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

class Authentication {
public:
    explicit Authentication(std::string signing_key) : key_(std::move(signing_key)) {}

    // Returns name@realm or name@realm!token. Throws RawError 401.
    std::string identify(const World& world, const base::HttpRequest& request, std::int64_t now) const;

    std::string make_ticket(const std::string& user, std::int64_t now) const;
    std::string make_csrf_token(const std::string& user, std::int64_t now) const;
    // Returns the ticket of a login that lacks its second factor. It is good for nothing but to show that
    // factor. `challenge` is JSON with the kinds of factors that the user may show.
    std::string make_challenge(const std::string& user, const std::string& challenge, std::int64_t now) const;
    // Reports whether we issued the challenge to this user no more than two hours ago.
    bool is_valid_challenge(const std::string& user, const std::string& ticket, std::int64_t now) const;
    // Reports whether we issued the ticket to this user no more than two hours ago.
    bool is_valid_ticket(const std::string& user, const std::string& ticket, std::int64_t now) const;

private:
    std::string by_token(const World& world, std::string_view credentials, std::int64_t now) const;
    std::string by_ticket(const World& world, const std::string& ticket, std::int64_t now) const;
    std::string sign(const std::string& text) const;
    bool is_fresh(const std::string& hexadecimal_time, std::int64_t now) const;

    std::string key_;
};

// Returns an enabled user whose account has not expired; nullptr otherwise.
const User* active_user(const World& world, const std::string& id, std::int64_t now);

}  // namespace proxmox_simulator
