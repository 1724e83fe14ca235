// What one BMC and one login know of each other. All hosts behind that BMC share it: BMCs have few sessions,
// and count refusals by account.
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
    std::string context;  // tags our sessions, so that leaked ones are found again

    bool operator==(const Login&) const = default;
};

// Credentials that were refused are tried once more after this: a password may have been set back.
inline constexpr base::Duration kSuspension = std::chrono::hours{24};
// Credentials that were accepted before are refused so often until they count as wrong.
inline constexpr int kMostDoubts = 3;

// So many BMCs in a row may refuse an account that was accepted before, until all of them wait.
inline constexpr std::size_t kMostRefusing = 3;

// What many BMCs have in common: directory accounts are locked by the failures at all of them together. So
// until one of them has accepted the credentials they are tried at one after the other, and at few. When
// several refuse what was accepted before, the directory may be away or the password another one: then they
// are tried at one BMC now and then.
struct Account {
    explicit Account(asio::any_io_executor executor) : turns(std::move(executor), 1) {}

    base::Gate turns;
    bool is_proven = false;
    int refusals = 0;
    std::optional<base::TimePoint> refused_until;  // when all these refusals are a day old
    std::set<std::string> refusing;                // BMCs, since one has accepted a login
    std::optional<base::TimePoint> rests_until;    // while so many do
    std::size_t bmcs = 1;                          // that ask for it
};

struct Access {
    explicit Access(asio::any_io_executor executor) : log_ins(std::move(executor), 1) {}

    enum class Way { undecided, session, basic };

    base::Gate log_ins;
    Way way = Way::undecided;
    std::string token;
    std::string session;  // its target
    bool sends_context = true;
    bool is_proven = false;         // the credentials have been accepted before
    bool is_basic_refused = false;  // though they were right, or may have been: this BMC takes sessions only
    bool is_service_read = false;   // SessionService, as far as Basic may read it
    int refusals = 0;               // in a row
    std::optional<base::TimePoint> doubted_until;  // they are not tried before
    std::optional<base::TimePoint> suspended_until;
    std::optional<base::TimePoint> basic_until;  // there was no session to be had
    // The password must be changed on the BMC before it answers anything else: it is not asked before.
    std::optional<base::TimePoint> password_expired_until;
    int expired_passwords = 0;        // answers of that kind in a row
    std::string words_of_expiry;      // of the BMC
    std::set<std::string> forbidden;  // resources that answer 401 to a session that is good
};

}  // namespace providers::redfish
