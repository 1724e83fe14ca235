// Whether user and password may be sent to a BMC, and what a refusal means. A single refusal of previously
// accepted credentials proves nothing: BMCs refuse good credentials under load, while they start, and while a
// directory is away. Too many refusals lock an account.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/gate.hpp"
#include "providers/redfish/bmc/wire.hpp"

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

// LoginTrust is what is known of one login at one BMC. All hosts behind the BMC share it, as BMCs count
// refusals per account.
struct LoginTrust {
    bool is_proven = false;                        // the credentials were accepted before
    int refusals = 0;                              // consecutive
    std::optional<base::TimePoint> doubted_until;  // end of the pause before the next try
    std::optional<base::TimePoint> suspended_until;
    // End of the pause after an expired password. The BMC answers nothing else before the password is changed
    // there.
    std::optional<base::TimePoint> password_expired_until;
    int expired_passwords = 0;    // such answers in a row
    std::string words_of_expiry;  // the BMC's message
};

// LoginHistory is what an earlier process learned about the credentials of a BMC.
struct LoginHistory {
    bool is_proven = false;         // they were accepted
    bool are_sessions_off = false;  // its session service is switched off
    int refusals = 0;               // consecutive
    std::optional<base::Duration> suspended_for;
};

// LoginGuard applies the rules to one BMC. It holds references only, which must outlive it.
class LoginGuard {
public:
    LoginGuard(Wire& wire, const Login& login, Account& account, LoginTrust& trust)
        : wire_(wire), login_(login), account_(account), trust_(trust) {}

    void remember(const LoginHistory& history);
    // Allows another try of refused credentials, on request of a person.
    void try_again();

    // Reports whether the BMC refused the credentials. Then no request is sent until they change, a person
    // asks for it, or a day has passed.
    bool is_suspended() const;
    // Throws RedfishError if nothing may be sent now.
    void require_trust(const std::string& tried) const;
    // Throws RedfishError during the pause after an expired password.
    void require_valid_password(const std::string& tried) const;
    // Throws RedfishError if two BMCs refused an account that none has accepted. Starts to count anew after a
    // day.
    void require_untried_account(const std::string& tried);
    // Called before user and password are sent. Throws RedfishError during the account's pause. One try
    // passes at its start, as these BMCs may have their own passwords.
    void spare_account(const std::string& tried);
    // Reports whether two more refusals, one of the last login and one of a further request, would be one too
    // many.
    bool is_at_last_try() const { return trust_.is_proven && trust_.refusals + 2 > kMostDoubts; }

    // Records a refusal. Returns the pause after which the credentials are worth a second try. Throws
    // RedfishError if they are not.
    base::Duration note_refusal(const std::string& tried);
    // Records that the credentials are right, for example since a session still works.
    void prove();
    // Records that user and password were accepted.
    void note_login();
    // Records an expired password. A person must change it; until then the BMC answers every request this
    // way.
    void note_expired_password(const Complaint& complaint);

private:
    [[noreturn]] void suspend(const std::string& tried) const;
    [[noreturn]] void doubt(const std::string& tried) const;

    Wire& wire_;
    const Login& login_;
    Account& account_;
    LoginTrust& trust_;
};

// Returns an error for a request that was not sent. It is no answer of the BMC to that request.
RedfishError not_now(const std::string& tried, std::string message, base::Duration retry_after);

}  // namespace providers::redfish
