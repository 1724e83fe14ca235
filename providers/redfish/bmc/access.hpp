// State shared by all hosts behind one BMC and login. BMCs have few sessions and count refusals per account.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/gate.hpp"

namespace providers::redfish {

namespace asio = boost::asio;

struct Login {
    std::string username;
    std::string password;
    std::string context;  // marks our sessions, so that leaked ones can be found

    bool operator==(const Login&) const = default;
};

// Refused credentials are tried once more after this time, as the password may have been set back.
inline constexpr base::Duration kSuspension = std::chrono::hours{24};
// Credentials that were accepted before count as wrong after this many refusals.
inline constexpr int kMostDoubts = 3;

// All BMCs pause after this many of them in a row refused an account that was accepted before.
inline constexpr std::size_t kMostRefusing = 3;

// Account is one login for many BMCs. A directory locks an account for the failures at all of them together.
// Until one BMC accepts the credentials, they are tried at one BMC after another, and only at a few. If
// several BMCs refuse a previously accepted account, the directory may be away or the password changed. Then
// only one BMC is tried now and then.
struct Account {
    explicit Account(asio::any_io_executor executor) : turns(std::move(executor), 1) {}

    base::Gate turns;
    bool is_proven = false;
    int refusals = 0;
    std::optional<base::TimePoint> refused_until;  // when all these refusals are a day old
    std::set<std::string> refusing;                // BMCs that refused since a login last succeeded
    std::optional<base::TimePoint> rests_until;    // pause while that many BMCs refuse
    std::size_t bmcs = 1;                          // BMCs that use the account
};

struct Access {
    explicit Access(asio::any_io_executor executor) : log_ins(std::move(executor), 1) {}

    enum class Way { undecided, session, basic };

    base::Gate log_ins;
    Way way = Way::undecided;
    std::string token;
    std::string session;  // its target
    bool sends_context = true;
    bool is_proven = false;         // the credentials were accepted before
    bool is_basic_refused = false;  // refused though perhaps right: this BMC only accepts sessions
    bool is_service_read = false;   // SessionService was read, as far as Basic may read it
    int refusals = 0;               // consecutive
    std::optional<base::TimePoint> doubted_until;  // end of the pause before the next try
    std::optional<base::TimePoint> suspended_until;
    std::optional<base::TimePoint> basic_until;  // Basic is used until then, as no session was available
    // End of the pause after an expired password. The BMC answers nothing else before the password is changed
    // there.
    std::optional<base::TimePoint> password_expired_until;
    int expired_passwords = 0;        // such answers in a row
    std::string words_of_expiry;      // the BMC's message
    std::set<std::string> forbidden;  // resources that answer 401 to a valid session
};

}  // namespace providers::redfish
