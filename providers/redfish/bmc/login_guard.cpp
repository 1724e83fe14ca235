#include "providers/redfish/bmc/login_guard.hpp"

#include "base/backoff.hpp"
#include "base/saturating.hpp"

namespace providers::redfish {

namespace {

// Pauses before doubtful credentials are tried again, by the number of refusals.
constexpr base::Duration kSecondThought = std::chrono::seconds{5};
constexpr base::Duration kThirdThought = std::chrono::minutes{2};
// An account that no BMC accepted is tried at this many of them.
constexpr int kMostRefusals = 2;
// Pauses between checks whether an expired password was changed on the BMC. A changed Secret ends the pause.
constexpr base::Backoff kExpiredPassword{std::chrono::minutes{1}, std::chrono::hours{1}};
// Pause between tries of an account that several BMCs refuse. Directories count failures over such a time.
constexpr base::Duration kAccountRest = std::chrono::minutes{15};

// Returns the error of a request that was not sent while it is doubtful whether user and password are right.
RedfishError doubtful(const std::string& tried, std::string message, base::Duration retry_after) {
    auto error = not_now(tried, std::move(message), retry_after);
    error.complaint.kind = RedfishErrorKind::doubted;
    return error;
}

}  // namespace

// Returns the error for a request that was not sent. The BMC did not answer anything.
RedfishError not_now(const std::string& tried, std::string message, base::Duration retry_after) {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::session_limit;
    complaint.message = std::move(message);
    complaint.retry_after = retry_after;
    return RedfishError(tried, std::move(complaint));
}

void LoginGuard::remember(const LoginHistory& history) {
    if (trust_.refusals == 0) trust_.refusals = history.refusals;
    trust_.is_proven = trust_.is_proven || history.is_proven;
    if (history.suspended_for && !trust_.suspended_until)
        trust_.suspended_until = wire_.now() + *history.suspended_for;
}

void LoginGuard::try_again() {
    account_.refusing.clear();
    account_.refusals = 0;
    trust_.suspended_until.reset();
    trust_.doubted_until.reset();
    trust_.password_expired_until.reset();
}

bool LoginGuard::is_suspended() const {
    return trust_.suspended_until && wire_.now() < *trust_.suspended_until;
}

void LoginGuard::require_trust(const std::string& tried) const {
    if (is_suspended()) suspend(tried);
    if (trust_.doubted_until && wire_.now() < *trust_.doubted_until) doubt(tried);
}

void LoginGuard::require_valid_password(const std::string& tried) const {
    if (!trust_.password_expired_until || wire_.now() >= *trust_.password_expired_until) return;
    Complaint complaint;
    complaint.kind = RedfishErrorKind::password_change;
    complaint.message = trust_.words_of_expiry;
    complaint.retry_after = *trust_.password_expired_until - wire_.now();
    throw RedfishError(tried, std::move(complaint));
}

void LoginGuard::require_untried_account(const std::string& tried) {
    if (account_.refused_until && wire_.now() >= *account_.refused_until) account_.refusals = 0;
    if (account_.is_proven || account_.refusals < kMostRefusals) return;
    Complaint complaint;
    complaint.kind = RedfishErrorKind::unauthorized;
    complaint.message =
        "user " + login_.username +
        " is not tried here, so that the account is not locked: " + std::to_string(account_.refusals) +
        " BMCs refused it and none accepted it; correct username or password in its "
        "credentials Secret, or it is tried again after a day (if their session services are switched "
        "off, put basicAuth into spec.quirks of the hosts)";
    throw RedfishError(tried, std::move(complaint));
}

void LoginGuard::spare_account(const std::string& tried) {
    if (account_.refusing.size() < kMostRefusing) return;
    const auto now = wire_.now();
    const auto until = account_.rests_until.value_or(now);
    if (now < until)
        throw doubtful(tried,
                       "user " + login_.username + " is not tried now, so that the account is not locked: " +
                           std::to_string(account_.refusing.size()) +
                           " BMCs refused it one after the other; it is tried at one BMC every 15 minutes",
                       until - now);
    account_.rests_until = now + kAccountRest;
}

base::Duration LoginGuard::note_refusal(const std::string& tried) {
    ++trust_.refusals;
    account_.refusing.insert(wire_.host());
    if (trust_.is_proven && trust_.refusals < kMostDoubts) {
        trust_.doubted_until = wire_.now() + (trust_.refusals == 1 ? kSecondThought : kThirdThought);
        if (trust_.refusals > 1) doubt(tried);
        return kSecondThought;
    }
    ++account_.refusals;
    trust_.suspended_until = wire_.now() + kSuspension;
    account_.refused_until = trust_.suspended_until;
    suspend(tried);
}

void LoginGuard::prove() {
    trust_.is_proven = true;
    trust_.refusals = 0;
    trust_.doubted_until.reset();
    trust_.suspended_until.reset();
    account_.is_proven = true;
}

void LoginGuard::note_login() {
    prove();
    account_.refusing.clear();
    account_.rests_until.reset();
}

void LoginGuard::note_expired_password(const Complaint& complaint) {
    base::count_up(trust_.expired_passwords);
    trust_.password_expired_until = wire_.now() + kExpiredPassword.after(trust_.expired_passwords);
    trust_.words_of_expiry = complaint.message;
}

void LoginGuard::suspend(const std::string& tried) const {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::unauthorized;
    complaint.message =
        "the BMC refused user " + login_.username +
        "; so that the account is not locked, nothing more is sent to it until username or password in its "
        "credentials Secret or its annotation kubenodesmith.io/retry-credentials change, or a day has passed "
        "(if its session service is switched off, put basicAuth into spec.quirks)";
    complaint.retry_after = *trust_.suspended_until - wire_.now();
    throw RedfishError(tried, std::move(complaint));
}

void LoginGuard::doubt(const std::string& tried) const {
    throw doubtful(tried,
                   "the BMC refused user " + login_.username + ", whom it had accepted with this password (" +
                       std::to_string(trust_.refusals) + " of " + std::to_string(kMostDoubts) +
                       " refusals after which nothing more is sent to it); tried again later",
                   *trust_.doubted_until - wire_.now());
}

}  // namespace providers::redfish
