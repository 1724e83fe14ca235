// The part of Bmc that authenticates. All hosts behind it share one session, used for everything; without
// sessions it uses Basic. A single refusal of previously accepted credentials proves nothing: BMCs refuse
// good credentials under load, while they start, and while a directory is away.
#include <boost/json/serialize.hpp>

#include "api/bytes.hpp"
#include "base/backoff.hpp"
#include "base/saturating.hpp"
#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

// Pauses before doubtful credentials are tried again, by the number of refusals.
constexpr base::Duration kSecondThought = std::chrono::seconds{5};
constexpr base::Duration kThirdThought = std::chrono::minutes{2};
// Time without a session after the BMC had none left.
constexpr base::Duration kWithoutSession = std::chrono::minutes{10};
// Pause before the next try, if the BMC has no session left and accepts nothing else.
constexpr base::Duration kSessionRetry = std::chrono::seconds{15};
constexpr int kMostRefusals = 2;
// Pauses between checks whether an expired password was changed on the BMC. A changed Secret ends the pause.
constexpr base::Backoff kExpiredPassword{std::chrono::minutes{1}, std::chrono::hours{1}};
// Pause between tries of an account that several BMCs refuse. Directories count failures over such a time.
constexpr base::Duration kAccountRest = std::chrono::minutes{15};
// Limit of sessions opened for one request. If there is room for only one session, our other calls may end
// them.
constexpr int kMostSessionTries = 3;

using Way = Access::Way;

bool has_no_sessions(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::not_found || kind == RedfishErrorKind::unsupported;
}

// Reports whether the BMC refuses a session without saying that it has none at all.
bool may_have_no_sessions(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::session_limit || kind == RedfishErrorKind::other ||
           kind == RedfishErrorKind::invalid_request;
}

// Returns an error for a request that was not sent. It is no answer of the BMC to that request.
RedfishError not_now(const std::string& tried, std::string message, base::Duration retry_after) {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::session_limit;
    complaint.message = std::move(message);
    complaint.retry_after = retry_after;
    return RedfishError(tried, std::move(complaint));
}

// Returns the error of a BMC whose sessions are all in use and that refuses Basic.
RedfishError no_session_left(const std::string& tried) {
    return not_now(tried,
                   "not now: the BMC has no session left and accepts no other login; end sessions there that "
                   "nobody needs, such as those of its web interface, or wait until one expires",
                   kSessionRetry);
}

// Returns the error of a request that was not sent while it is doubtful whether user and password are right.
RedfishError doubtful(const std::string& tried, std::string message, base::Duration retry_after) {
    auto error = not_now(tried, std::move(message), retry_after);
    error.complaint.kind = RedfishErrorKind::doubted;
    return error;
}

}  // namespace

bool Bmc::is_suspended() const {
    return access_->suspended_until && wire_.now() < *access_->suspended_until;
}

void Bmc::remember(bool is_proven, int refusals, std::optional<base::Duration> suspended_for) {
    if (access_->refusals == 0) access_->refusals = refusals;
    access_->is_proven = access_->is_proven || is_proven;
    if (suspended_for && !access_->suspended_until) access_->suspended_until = wire_.now() + *suspended_for;
}

void Bmc::try_again() {
    account_->refusing.clear();
    access_->suspended_until.reset();
    access_->doubted_until.reset();
    access_->password_expired_until.reset();
    account_->refusals = 0;
}

void Bmc::suspend(const std::string& tried) {
    access_->token.clear();
    Complaint complaint;
    complaint.kind = RedfishErrorKind::unauthorized;
    complaint.message =
        "the BMC refused user " + login_.username +
        "; so that the account is not locked, nothing more is sent to it until username or password in its "
        "credentials Secret or its annotation kubenodesmith.io/retry-credentials change, or a day has passed "
        "(if its session service is switched off, put basicAuth into spec.quirks)";
    complaint.retry_after = *access_->suspended_until - wire_.now();
    throw RedfishError(tried, std::move(complaint));
}

void Bmc::doubt(const std::string& tried) {
    throw doubtful(tried,
                   "the BMC refused user " + login_.username + ", whom it had accepted with this password (" +
                       std::to_string(access_->refusals) + " of " + std::to_string(kMostDoubts) +
                       " refusals after which nothing more is sent to it); tried again later",
                   *access_->doubted_until - wire_.now());
}

// Records an expired password. A person must change it; until then the BMC answers every request this way.
void Bmc::note_expired_password(const Complaint& complaint) {
    base::count_up(access_->expired_passwords);
    access_->password_expired_until = wire_.now() + kExpiredPassword.after(access_->expired_passwords);
    access_->words_of_expiry = complaint.message;
}

void Bmc::rest_until_password_changes(const std::string& tried) {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::password_change;
    complaint.message = access_->words_of_expiry;
    complaint.retry_after = *access_->password_expired_until - wire_.now();
    throw RedfishError(tried, std::move(complaint));
}

// Records a refusal. Returns after some seconds if the credentials are worth a second try.
asio::awaitable<void> Bmc::note_refusal(std::string tried) {
    access_->token.clear();
    ++access_->refusals;
    account_->refusing.insert(host());
    if (access_->is_proven && access_->refusals < kMostDoubts) {
        note_quirk("Unauthorized");
        access_->doubted_until = wire_.now() + (access_->refusals == 1 ? kSecondThought : kThirdThought);
        if (access_->refusals > 1) doubt(tried);
        co_await clock().sleep_for(kSecondThought);
        co_return;
    }
    ++account_->refusals;
    access_->suspended_until = wire_.now() + kSuspension;
    account_->refused_until = access_->suspended_until;
    suspend(tried);
}

void Bmc::prove() {
    access_->is_proven = true;
    access_->refusals = 0;
    access_->doubted_until.reset();
    access_->suspended_until.reset();
    account_->is_proven = true;
}

void Bmc::note_login() {
    prove();
    account_->refusing.clear();
    account_->rests_until.reset();
}

// Throws during the account's pause. One try passes at its start, as these BMCs may have their own passwords.
void Bmc::spare_account(const std::string& tried) {
    if (account_->refusing.size() < kMostRefusing) return;
    const auto now = wire_.now();
    const auto until = account_->rests_until.value_or(now);
    if (now < until)
        throw doubtful(tried,
                       "user " + login_.username + " is not tried now, so that the account is not locked: " +
                           std::to_string(account_->refusing.size()) +
                           " BMCs refused it one after the other; it is tried at one BMC every 15 minutes",
                       until - now);
    account_->rests_until = now + kAccountRest;
}

void Bmc::authorize(base::HttpRequest& request) const {
    request.headers.set("X-Auth-Token", access_->token);
}

base::HttpRequest Bmc::with_password(base::HttpRequest request) const {
    request.headers.set("Authorization",
                        "Basic " + api::Bytes{login_.username + ":" + login_.password}.str());
    return request;
}

// Reports whether Basic is only a fallback. This BMC seems to want sessions, so a refusal of Basic does not
// disprove the password.
bool Bmc::is_basic_a_guess() const {
    return access_->way != Way::basic;
}

// Returns the target of the session service; nullopt: the BMC has none.
asio::awaitable<std::optional<std::string>> Bmc::session_service() {
    const auto service = co_await root();
    co_return target_of(link_at(service, "SessionService"), wire_.origin(), Origin::any);
}

asio::awaitable<base::HttpResponse> Bmc::read_session_service(std::string target) {
    co_return co_await wire_.send("reading the session service of " + host(),
                                  with_password(bare_request("GET", std::move(target))), Effect::none);
}

// Reports whether Basic may read the session service, which requires a login.
asio::awaitable<bool> Bmc::is_basic_accepted() {
    const auto target = co_await session_service();
    if (!target) co_return false;
    const auto response = co_await read_session_service(*target);
    co_return response.status == 200;
}

RedfishError Bmc::forbidden(const std::string& tried) const {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::forbidden;
    complaint.message = "the BMC refuses this resource to user " + login_.username + " (HTTP status 401)";
    return RedfishError(tried, std::move(complaint));
}

asio::awaitable<base::HttpResponse> Bmc::send_basic(std::string tried, base::HttpRequest request,
                                                    Effect effect) {
    while (true) {
        spare_account(tried);
        auto response = co_await wire_.send(tried, with_password(request), effect);
        if (response.status < 400) note_login();
        if (response.status != 401) co_return response;
        if (is_basic_a_guess()) {
            // The 401 may concern the resource only.
            const bool is_accepted = co_await is_basic_accepted();
            if (is_accepted) throw forbidden(tried);
            access_->is_basic_refused = true;
            access_->basic_until.reset();
            throw no_session_left(tried);
        }
        co_await note_refusal(tried);
    }
}

asio::awaitable<base::HttpResponse> Bmc::authorized(const std::string& tried, base::HttpRequest request,
                                                    Effect effect) {
    if (is_suspended() && account_->is_proven) co_await reconsider_sessions();
    if (is_suspended()) suspend(tried);
    if (access_->doubted_until && wire_.now() < *access_->doubted_until) doubt(tried);
    if (access_->password_expired_until && wire_.now() < *access_->password_expired_until)
        rest_until_password_changes(tried);
    if (account_->is_proven) co_return co_await authorized_in_turn(tried, std::move(request), effect);
    co_await root();  // a silent BMC must not block the others
    const auto turn = co_await account_->turns.enter("");
    if (account_->refused_until && wire_.now() >= *account_->refused_until) account_->refusals = 0;
    if (!account_->is_proven && account_->refusals >= kMostRefusals) {
        Complaint complaint;
        complaint.kind = RedfishErrorKind::unauthorized;
        complaint.message =
            "user " + login_.username +
            " is not tried here, so that the account is not locked: " + std::to_string(account_->refusals) +
            " BMCs refused it and none accepted it; correct username or password in its "
            "credentials Secret, or it is tried again after a day (if their session services are switched "
            "off, put basicAuth into spec.quirks of the hosts)";
        throw RedfishError(tried, std::move(complaint));
    }
    co_return co_await authorized_in_turn(tried, std::move(request), effect);
}

asio::awaitable<base::HttpResponse> Bmc::authorized_in_turn(const std::string& tried,
                                                            base::HttpRequest request, Effect effect) {
    for (int tries = 0; tries < kMostSessionTries; ++tries) {
        co_await log_in();
        if (access_->token.empty()) co_return co_await send_basic(tried, std::move(request), effect);
        const auto token = access_->token;
        auto sent = request;
        authorize(sent);
        auto response = co_await wire_.send(tried, std::move(sent), effect);
        if (response.status != 401) {
            prove();
            access_->forbidden.erase(request.target);
            co_return response;
        }
        // A request refused with 401 had no effect. If the session is valid, the 401 concerns the resource.
        // It probably does if that happened before or the session is new.
        const bool is_likely = access_->forbidden.contains(request.target) || tries > 0;
        bool is_about_resource = false;
        if (is_likely && access_->token == token) is_about_resource = co_await is_session_good();
        if (is_about_resource) {
            access_->forbidden.insert(request.target);
            throw forbidden(tried);
        }
        co_await replace_session(token);
    }
    // Opening the sessions proved that the credentials are right.
    throw not_now(tried,
                  "not now: the BMC ended " + std::to_string(kMostSessionTries) +
                      " sessions immediately; someone else may need them",
                  kSessionRetry);
}

// Replaces the session. BMCs have few sessions, so the old one is ended before a new one is opened.
asio::awaitable<void> Bmc::replace_session(std::string token) {
    const auto pass = co_await access_->log_ins.enter("");
    if (access_->token == token) co_await log_out();
}

asio::awaitable<bool> Bmc::is_session_good() {
    if (access_->session.empty()) co_return false;
    auto request = bare_request("GET", access_->session);
    authorize(request);
    const auto response =
        co_await wire_.send("reading the operator's session of " + host(), std::move(request), Effect::none);
    co_return response.status == 200;
}

asio::awaitable<base::HttpResponse> Bmc::post_session(std::string target, bool with_context) {
    json::object body;
    body["UserName"] = login_.username;
    body["Password"] = login_.password;
    if (with_context) body["Context"] = login_.context;
    auto request = bare_request("POST", std::move(target));
    request.headers.set("Content-Type", "application/json");
    request.body = json::serialize(body);
    const std::string tried = "logging in to " + host();
    co_return co_await wire_.send(tried, std::move(request), Effect::session);
}

asio::awaitable<void> Bmc::log_in() {
    const auto pass = co_await access_->log_ins.enter("");
    if (wire_.needs_probe()) co_await root();
    // Another call may have been refused meanwhile.
    const std::string tried = "logging in to " + host();
    if (is_suspended()) suspend(tried);
    if (access_->doubted_until && wire_.now() < *access_->doubted_until) doubt(tried);
    const bool goes_without = access_->basic_until && wire_.now() < *access_->basic_until;
    if (!access_->token.empty() || access_->way == Way::basic || goes_without) co_return;
    const auto service = co_await root();
    auto link = link_at(object_at(service, "Links"), "Sessions");
    if (link.empty() && !link_at(service, "SessionService").empty())
        link = link_at(service, "SessionService") + "/Sessions";
    const auto target = target_of(link, wire_.origin(), Origin::any);
    if (!target) {
        access_->way = Way::basic;
        co_return;
    }
    co_await open_session(*target);
}

// Uses Basic for a while, unless the BMC is known to refuse it.
void Bmc::go_without_session() {
    if (access_->is_basic_refused) throw no_session_left("logging in to " + host());
    access_->basic_until = wire_.now() + kWithoutSession;
}

asio::awaitable<void> Bmc::open_session(std::string target) {
    const std::string tried = "logging in to " + host();
    for (bool may_clean = true;;) {
        spare_account(tried);
        const auto response = co_await post_session(target, access_->sends_context);
        const auto token = response.headers.find("X-Auth-Token");
        if (response.status < 300 && token) {
            const auto location = response.headers.find("Location");
            access_->token = std::string(*token);
            access_->session =
                location ? target_of(std::string(*location), wire_.origin(), Origin::any).value_or("")
                         : link_at(parse_object("{\"s\":" + response.body + "}"), "s");
            access_->way = Way::session;
            access_->basic_until.reset();
            note_login();
            co_return;
        }
        const auto complaint = complain(response);
        const bool has_none = response.status < 300 || has_no_sessions(complaint.kind);
        // A BMC that gave sessions before gives them again once it has started.
        if (has_none && access_->way == Way::session) {
            go_without_session();
            co_return;
        }
        if (has_none) {
            access_->way = Way::basic;
            co_return;
        }
        if (complaint.kind == RedfishErrorKind::unauthorized) {
            const bool are_off = co_await are_sessions_switched_off();
            if (are_off) {
                access_->way = Way::basic;
                co_return;
            }
            co_await note_refusal(tried);
            continue;
        }
        if (access_->sends_context && complaint.kind == RedfishErrorKind::invalid_request) {
            access_->sends_context = false;
        } else if (complaint.kind == RedfishErrorKind::session_limit && may_clean &&
                   !access_->is_basic_refused) {
            may_clean = false;
            note_quirk("SessionLimitExceeded");
            co_await delete_leaked_sessions(target);
        } else if (may_have_no_sessions(complaint.kind)) {
            go_without_session();
            co_return;
        } else {
            if (complaint.kind == RedfishErrorKind::password_change) note_expired_password(complaint);
            throw RedfishError(tried, complaint);
        }
    }
}

// Reconsiders a BMC that refused a login before another BMC accepted the account. Its sessions may be
// switched off.
asio::awaitable<void> Bmc::reconsider_sessions() {
    // Credentials that it accepted before are wrong now, and each process would cause one more refusal.
    if (access_->is_proven) co_return;
    const bool are_off = co_await are_sessions_switched_off();
    if (!are_off) co_return;
    access_->way = Way::basic;
    access_->suspended_until.reset();
    access_->refusals = 0;
}

// Reads SessionService.ServiceEnabled, which requires a login. It is read once, and only from a BMC that
// never gave a session. The read may cause another refusal, so an account of many BMCs must first be accepted
// by one.
asio::awaitable<bool> Bmc::are_sessions_switched_off() {
    const bool is_spared = account_->bmcs > 1 && !account_->is_proven;
    const bool is_known =
        access_->is_service_read || access_->way == Way::session || access_->is_basic_refused;
    // The two refusals are the last login and this read.
    const bool is_one_too_many = access_->is_proven && access_->refusals + 2 > kMostDoubts;
    const auto target = co_await session_service();
    if (is_known || is_spared || is_one_too_many || !target) co_return false;
    access_->is_service_read = true;
    const auto response = co_await read_session_service(*target);
    if (response.status == 401) {
        access_->is_basic_refused = true;
        if (access_->is_proven) ++access_->refusals;
    }
    if (response.status != 200) co_return false;
    const auto document = parse_object(response.body);
    const auto* enabled = document.if_contains("ServiceEnabled");
    co_return enabled && enabled->is_bool() && !enabled->get_bool();
}

}  // namespace providers::redfish
